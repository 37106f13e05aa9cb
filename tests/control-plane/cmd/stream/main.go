// SPDX-License-Identifier: Apache-2.0

// Stream is what an API server is to a watch, without anything behind it: over TLS and HTTP/2 it answers each watch of
// pods with the same events, as fast as they are taken, framed and flushed one by one. So what a client's CPU spends on
// an event is measured at its own pace, not at that of a server on the same machine.
//
//	stream --kubeconfig-out FILE [--events N]
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"flag"
	"fmt"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

func repeated(n int, form string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = strings.ReplaceAll(form, "#", fmt.Sprintf("%02d", i))
	}
	return strings.Join(parts, ",")
}

// event is a pod of about 8.7 kB, a third of it managedFields, as a server tells it.
func event(i int) []byte {
	env := repeated(26, `{"name":"SETTING_#","value":"some value of a usual length, as in templates, and a little more of it #"}`)
	fields := repeated(75, `"k:{\"name\":\"SETTING_#\"}":{".":{},"f:name":{},"f:value":{}}`)
	return []byte(fmt.Sprintf(`{"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"bench-%d",`+
		`"namespace":"bench","uid":"5e36463e-fc6c-4e18-bd49-%012d","resourceVersion":"%d","creationTimestamp":"2026-01-01T00:00:00Z",`+
		`"labels":{"app.kubernetes.io/managed-by":"grove-operator","app.kubernetes.io/part-of":"bench","grove.io/podclique":"bench-%d",`+
		`"grove.io/podgang":"bench-%d","grove.io/podclique-pod-index":"%d"},"managedFields":[{"manager":"m","operation":"Update",`+
		`"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{%s}}}]},"spec":{"containers":[{"name":"main",`+
		`"image":"example.com/server:1","env":[%s],"resources":{"limits":{"memory":"8Gi"},"requests":{"cpu":"2","memory":"4Gi"}},`+
		`"terminationMessagePath":"/dev/termination-log","imagePullPolicy":"IfNotPresent"}],"restartPolicy":"Always",`+
		`"schedulerName":"none"},"status":{"phase":"Pending","qosClass":"Burstable"}}}`+"\n",
		i, i, 1000+i, i/8, i/32, i%8, fields, env))
}

func certificate() (tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "stream"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, text, err
}

func main() {
	out := flag.String("kubeconfig-out", "", "kubeconfig that leads here, written when it serves")
	n := flag.Int("events", 2000, "of each watch")
	flag.Parse()
	events := make([][]byte, *n)
	for i := range events {
		events[i] = event(i)
	}
	cert, text, err := certificate()
	if err != nil {
		log.Fatalf("stream: %v", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatalf("stream: %v", err)
	}
	config := fmt.Sprintf(`{"clusters":[{"name":"c","cluster":{"server":"https://%s","certificate-authority-data":"%s"}}],`+
		`"contexts":[{"name":"x","context":{"cluster":"c"}}],"current-context":"x"}`, listener.Addr(), base64.StdEncoding.EncodeToString(text))
	if err := os.WriteFile(*out, []byte(config), 0o600); err != nil {
		log.Fatalf("stream: %v", err)
	}
	serve := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for _, e := range events {
			if _, err := w.Write(e); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	}
	server := &http.Server{Handler: http.HandlerFunc(serve), TLSConfig: &tls.Config{
		Certificates: []tls.Certificate{cert}, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12}}
	log.Fatalf("stream: %v", server.ServeTLS(listener, "", ""))
}
