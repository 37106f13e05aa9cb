// SPDX-License-Identifier: Apache-2.0

// H2fault is an HTTP/2 server in front of an API server that breaks what a client of HTTP/2 must survive, by a
// seeded script:
//
//	h2fault --upstream KUBECONFIG --kubeconfig-out FILE [--seed N] [--every N] [--faults LIST] [--quiet-after N]
//
// Of every N requests one meets a fault of the list (goaway, refuse, stall, dead, reset): a GOAWAY that refuses this
// stream while others are in flight; a refused stream; a stream whose window stays shut, so that its body cannot
// be sent, or whose answer never comes; a connection on which nothing moves any more though it stays open; a reset
// connection. It works on frames, for no HTTP/2 library lets one break it. After --quiet-after faults it is kind.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
)

// script decides which request meets which fault.
type script struct {
	mu     sync.Mutex
	random *rand.Rand
	faults []string
	every  int
	left   int
	dealt  map[string]int
}

func (s *script) next() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults) == 0 || s.left <= 0 || s.random.Intn(s.every) != 0 {
		return ""
	}
	s.left--
	fault := s.faults[s.random.Intn(len(s.faults))]
	s.dealt[fault]++
	return fault
}

func main() {
	upstream := flag.String("upstream", "", "kubeconfig of the API server behind")
	out := flag.String("kubeconfig-out", "", "kubeconfig that leads here, written when it serves")
	seed := flag.Int64("seed", 1, "of the faults")
	every := flag.Int("every", 10, "one request of so many meets a fault")
	quiet := flag.Int("quiet-after", 40, "so many faults, then none")
	list := flag.String("faults", "goaway,refuse,stall,dead,reset", "which faults")
	flag.Parse()
	back, err := newBackend(*upstream)
	if err != nil {
		log.Fatalf("h2fault: %v", err)
	}
	config, certificate, err := selfSigned()
	if err != nil {
		log.Fatalf("h2fault: %v", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatalf("h2fault: %v", err)
	}
	s := &script{random: rand.New(rand.NewSource(*seed)), every: *every, left: *quiet, dealt: map[string]int{}}
	if *list != "" {
		s.faults = strings.Split(*list, ",")
	}
	if err := writeKubeconfig(*out, listener.Addr().String(), certificate); err != nil {
		log.Fatalf("h2fault: %v", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		<-ctx.Done()
		listener.Close()
	}()
	for {
		conn, err := listener.Accept()
		if err != nil {
			break
		}
		go serve(conn, config, back, s)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(os.Stderr, "h2fault: dealt %v\n", s.dealt)
}
