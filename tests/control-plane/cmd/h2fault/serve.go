// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const window = 1 << 20

// stream is one request on its way.
type stream struct {
	id     uint32
	header map[string]string
	body   bytes.Buffer
	fault  string
	room   int64 // what the client lets us send
	cancel context.CancelFunc
}

// connection is one client's; its lock covers everything that is written.
type connection struct {
	mu      sync.Mutex
	moved   *sync.Cond
	conn    net.Conn
	framer  *http2.Framer
	encoder *hpack.Encoder
	encoded bytes.Buffer
	streams map[uint32]*stream
	room    int64
	initial int64
	frame   int64
	closing bool // GOAWAY was sent
	dead    bool // nothing moves any more
	gone    bool
	back    *backend
	script  *script
}

func serve(raw net.Conn, config *tls.Config, back *backend, s *script) {
	defer raw.Close()
	conn := tls.Server(raw, config)
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(conn, preface); err != nil || string(preface) != http2.ClientPreface {
		return
	}
	c := &connection{conn: raw, framer: http2.NewFramer(conn, conn), streams: map[uint32]*stream{},
		room: 65535, initial: 65535, frame: 16384, back: back, script: s}
	c.moved = sync.NewCond(&c.mu)
	c.encoder = hpack.NewEncoder(&c.encoded)
	c.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	// Streams may send nothing until they are granted room: so a body can be held up.
	c.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0},
		http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 100})
	c.framer.WriteWindowUpdate(0, window)
	for c.read() == nil {
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	for _, s := range c.streams {
		if s.cancel != nil {
			s.cancel()
		}
	}
	c.moved.Broadcast()
}

var errOver = errors.New("over")

// read takes one frame.
func (c *connection) read() error {
	frame, err := c.framer.ReadFrame()
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		return nil // read and forgotten: the peer's own buffers stay empty, too
	}
	switch f := frame.(type) {
	case *http2.SettingsFrame:
		c.settings(f)
	case *http2.PingFrame:
		if !f.IsAck() {
			c.framer.WritePing(true, f.Data)
		}
	case *http2.WindowUpdateFrame:
		if f.StreamID == 0 {
			c.room += int64(f.Increment)
		} else if s := c.streams[f.StreamID]; s != nil {
			s.room += int64(f.Increment)
		}
		c.moved.Broadcast()
	case *http2.RSTStreamFrame:
		if s := c.streams[f.StreamID]; s != nil && s.cancel != nil {
			s.cancel()
		}
		delete(c.streams, f.StreamID)
		c.moved.Broadcast()
	case *http2.MetaHeadersFrame:
		return c.headers(f)
	case *http2.DataFrame:
		c.data(f)
	}
	return nil
}

func (c *connection) settings(f *http2.SettingsFrame) {
	if f.IsAck() {
		return
	}
	f.ForeachSetting(func(s http2.Setting) error {
		switch s.ID {
		case http2.SettingInitialWindowSize:
			for _, open := range c.streams {
				open.room += int64(s.Val) - c.initial
			}
			c.initial = int64(s.Val)
		case http2.SettingMaxFrameSize:
			c.frame = int64(s.Val)
		}
		return nil
	})
	c.framer.WriteSettingsAck()
	c.moved.Broadcast()
}

// headers begins a stream, and deals its fault.
func (c *connection) headers(f *http2.MetaHeadersFrame) error {
	s := &stream{id: f.StreamID, header: map[string]string{}, room: c.initial}
	for _, field := range f.Fields {
		s.header[field.Name] = field.Value
	}
	if c.closing {
		return nil // beyond the last stream of the GOAWAY: not processed
	}
	s.fault = c.script.next()
	switch s.fault {
	case "goaway":
		c.closing = true
		c.framer.WriteGoAway(s.id-2, http2.ErrCodeNo, nil) // this one is refused, the others end
		if len(c.streams) == 0 {
			return errOver
		}
		return nil
	case "refuse":
		c.framer.WriteRSTStream(s.id, http2.ErrCodeRefusedStream)
		return nil
	case "dead":
		c.dead = true
		return nil
	case "reset":
		if tcp, ok := c.conn.(*net.TCPConn); ok {
			tcp.SetLinger(0)
		}
		return errOver
	}
	c.streams[s.id] = s
	if f.StreamEnded() {
		c.start(s)
	} else if s.fault != "stall" {
		c.framer.WriteWindowUpdate(s.id, window)
	}
	return nil
}

func (c *connection) data(f *http2.DataFrame) {
	s := c.streams[f.StreamID]
	if n := len(f.Data()); n > 0 {
		c.framer.WriteWindowUpdate(0, uint32(n))
		if s != nil {
			s.body.Write(f.Data())
			c.framer.WriteWindowUpdate(s.id, uint32(n))
		}
	}
	if s != nil && f.StreamEnded() {
		c.start(s)
	}
}

// start carries a whole request out; the lock is held.
func (c *connection) start(s *stream) {
	if s.fault == "stall" {
		return // its answer never comes
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	go func() {
		defer cancel()
		c.answer(ctx, s)
	}()
}

func (c *connection) answer(ctx context.Context, s *stream) {
	request, err := http.NewRequestWithContext(ctx, s.header[":method"], c.back.base+s.header[":path"],
		bytes.NewReader(s.body.Bytes()))
	if err != nil {
		c.end(s, true)
		return
	}
	for _, name := range []string{"accept", "content-type", "user-agent"} {
		if v := s.header[name]; v != "" {
			request.Header.Set(name, v)
		}
	}
	response, err := c.back.client.Do(request)
	if err != nil {
		c.end(s, true)
		return
	}
	defer response.Body.Close()
	c.writeHeaders(s, response)
	buffer := make([]byte, 16384)
	for {
		n, err := response.Body.Read(buffer)
		if n > 0 && !c.writeData(s, buffer[:n]) {
			return
		}
		if err != nil {
			c.end(s, err != io.EOF)
			return
		}
	}
}

func (c *connection) writeHeaders(s *stream, response *http.Response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead || c.gone || c.streams[s.id] == nil {
		return
	}
	c.encoded.Reset()
	c.encoder.WriteField(hpack.HeaderField{Name: ":status", Value: strconv.Itoa(response.StatusCode)})
	for _, name := range []string{"Content-Type", "Retry-After", "Warning"} {
		if v := response.Header.Get(name); v != "" {
			c.encoder.WriteField(hpack.HeaderField{Name: strings.ToLower(name), Value: v})
		}
	}
	c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id, BlockFragment: c.encoded.Bytes(), EndHeaders: true})
}

// writeData sends as the client's windows allow; false when there is nobody any more.
func (c *connection) writeData(s *stream, data []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(data) > 0 {
		for !c.gone && !c.dead && c.streams[s.id] != nil && (c.room <= 0 || s.room <= 0) {
			c.moved.Wait()
		}
		if c.gone || c.dead || c.streams[s.id] == nil {
			return false
		}
		n := min(int64(len(data)), c.room, s.room, c.frame)
		if c.framer.WriteData(s.id, false, data[:n]) != nil {
			return false
		}
		c.room -= n
		s.room -= n
		data = data[n:]
	}
	return true
}

func (c *connection) end(s *stream, broken bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.dead && !c.gone && c.streams[s.id] != nil {
		if broken {
			c.framer.WriteRSTStream(s.id, http2.ErrCodeInternal)
		} else {
			c.framer.WriteData(s.id, true, nil)
		}
	}
	delete(c.streams, s.id)
	if c.closing && len(c.streams) == 0 {
		c.conn.Close()
	}
}
