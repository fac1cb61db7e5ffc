package model

import (
	"net"
	"net/http"
	"time"
)

// NewHTTPClient returns a client for many long streams to few hosts. A program should make one client and give it to
// all models: the client keeps the connections, so that a model with its own client would have to open new ones. The
// owner of the client ends with CloseIdleConnections.
//
// The client uses the proxies of the environment; net/http never uses these for loopback addresses.
func NewHTTPClient() *http.Client {
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Client{Transport: &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: 15 * time.Second,
		IdleConnTimeout:     90 * time.Second,
		// Hundreds of runs may use one server. The default of two idle connections would make them open a connection
		// for almost every turn.
		MaxIdleConns:        512,
		MaxIdleConnsPerHost: 512,
	}}
}
