# SPDX-License-Identifier: Apache-2.0
# The library and grovectl with a C11 compiler and make alone: no Meson, no Python, no network. For those who package
# or carry libgrove where these are not to be had; to work on libgrove use ./dev. `make install PREFIX=... DESTDIR=...`
# YAML=no builds the JSON-only core; then nothing but libc is needed.
CC ?= cc
AR ?= ar
OBJCOPY ?= objcopy
PKG_CONFIG ?= pkg-config
CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
OUT ?= build-make
YAML ?= yes

version := $(shell sed -n 's/.*GROVE_VERSION_STRING "\(.*\)"/\1/p' include/grove/version.h)
layers := base value model admission store plan sched backend engine sim answer
sources := $(foreach l,$(layers),$(wildcard lib/$l/*.c lib/$l/gen/*.c lib/$l/adapters/*.c))
flags := -std=c11 -Iinclude -Ilib -fPIC -fvisibility=hidden -MMD -MP
ifeq ($(YAML),yes)
yaml_cflags := -DGV_HAVE_YAML=1 $(shell $(PKG_CONFIG) --cflags yaml-0.1 2>/dev/null)
yaml_libs := $(or $(shell $(PKG_CONFIG) --libs yaml-0.1 2>/dev/null),-lyaml)
else
sources := $(filter-out lib/value/yaml_items.c lib/value/yaml_read.c lib/value/yaml_scan.c,$(sources))
endif
objects := $(sources:%.c=$(OUT)/%.o)
# The tool without a cluster of its own: errand.c belongs to that of libcurl.
tool_objects := $(patsubst %.c,$(OUT)/%.o,$(filter-out tools/grovectl/errand.c,$(wildcard tools/grovectl/*.c)))

.PHONY: all objects install clean
all: $(OUT)/libgrove.so $(OUT)/libgrove.a $(OUT)/grovectl

objects: $(objects)

$(OUT)/libgrove.so: $(objects) lib/libgrove.map
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libgrove.so.0 -Wl,--version-script,lib/libgrove.map \
	    -Wl,--no-undefined -o $@ $(objects) $(yaml_libs)

$(OUT)/libgrove.a: $(objects)
	$(CC) -r -nostdlib -o $(OUT)/libgrove.o $(objects)
	$(OBJCOPY) --localize-hidden $(OUT)/libgrove.o
	rm -f $@
	$(AR) rcs $@ $(OUT)/libgrove.o

$(OUT)/grovectl: $(tool_objects) $(objects)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(tool_objects) $(objects) $(yaml_libs)

$(OUT)/tools/%.o: flags += -D_POSIX_C_SOURCE=200809L
$(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(flags) $(yaml_cflags) $(CPPFLAGS) $(CFLAGS) -c $< -o $@

install: all
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/bin
	cp -R include/grove $(DESTDIR)$(PREFIX)/include/
	install -m 755 $(OUT)/libgrove.so $(DESTDIR)$(LIBDIR)/libgrove.so.$(version)
	ln -sf libgrove.so.$(version) $(DESTDIR)$(LIBDIR)/libgrove.so.0
	ln -sf libgrove.so.0 $(DESTDIR)$(LIBDIR)/libgrove.so
	install -m 644 $(OUT)/libgrove.a $(DESTDIR)$(LIBDIR)/
	install -m 755 $(OUT)/grovectl $(DESTDIR)$(PREFIX)/bin/
	install -d $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/man/man3
	install -m 644 docs/man/grovectl.1 $(DESTDIR)$(PREFIX)/share/man/man1/
	install -m 644 docs/man/libgrove.3 $(DESTDIR)$(PREFIX)/share/man/man3/
	printf '%s\n' 'prefix=$(PREFIX)' 'includedir=$${prefix}/include' 'libdir=$(LIBDIR)' '' 'Name: libgrove' \
	    'Description: Validate, plan and place Grove workloads (PodCliqueSet) from C' 'Version: $(version)' \
	    $(if $(yaml_libs),'Requires.private: yaml-0.1') 'Libs: -L$${libdir} -lgrove' 'Cflags: -I$${includedir}' \
	    >$(DESTDIR)$(LIBDIR)/pkgconfig/libgrove.pc

clean:
	rm -rf $(OUT)

-include $(objects:.o=.d) $(tool_objects:.o=.d)
