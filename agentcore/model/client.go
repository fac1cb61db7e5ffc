package model

import (
	"net"
	"net/http"
	"time"
)

// NewHTTPClient returns a client fit for many long streams to few hosts. Whoever makes models makes one client and
// gives it to all of them: connections are kept by the client, so that a model with a client of its own dials, and
// shakes hands, anew. Its owner ends with CloseIdleConnections.
//
// It takes proxies from the environment, which net/http never uses for loopback addresses.
func NewHTTPClient() *http.Client {
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Client{Transport: &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: 15 * time.Second,
		IdleConnTimeout:     90 * time.Second,
		// Hundreds of runs may talk to one server; two idle connections, the default, would make them dial for every
		// turn.
		MaxIdleConns:        512,
		MaxIdleConnsPerHost: 512,
	}}
}
