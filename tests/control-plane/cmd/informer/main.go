// SPDX-License-Identifier: Apache-2.0

// Informer is the peer of `./dev bench k8s`: client-go's shared informer of pods, with what it costs.
//
//	informer --kubeconfig FILE --namespace NS --pods N --updates M
//
// It syncs N pods, waits for M updates, and prints a line of JSON after each. A handler counts; nothing else is done.
package main

import (
	"flag"
	"fmt"
	"log"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "how to reach the API server")
	namespace := flag.String("namespace", "default", "of the pods")
	pods := flag.Int("pods", 1000, "so many are synced")
	updates := flag.Int64("updates", 1000, "so many are waited for")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	var seen atomic.Int64
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(*namespace))
	informer := factory.Core().V1().Pods().Informer()
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(_, _ any) { seen.Add(1) }})
	before, empty := cpu(), heap()
	stop := make(chan struct{})
	factory.Start(stop)
	cache.WaitForCacheSync(stop, informer.HasSynced)
	for len(informer.GetStore().ListKeys()) < *pods {
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Printf("{\"sync_cpu_ms\":%d,\"heap_bytes_a_pod\":%d}\n", (cpu() - before).Milliseconds(),
		(int64(heap())-int64(empty))/int64(*pods))
	before = cpu()
	for seen.Load() < *updates {
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Printf("{\"event_cpu_us\":%d}\n", (cpu()-before).Microseconds()/seen.Load())
}
