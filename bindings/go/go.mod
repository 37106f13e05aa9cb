module libgrove.io/grove

go 1.19
