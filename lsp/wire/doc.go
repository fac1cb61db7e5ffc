// Package wire carries the base protocol of a language server: message framing, the guard that keeps malformed messages
// out, the connection, the order in which messages take effect, cancellation and the lifecycle from initialize to exit.
//
// It knows JSON-RPC 2.0 and the "Base Protocol" and "Server lifecycle" sections of the Language Server Protocol 3.18,
// and nothing of features: a server hands it a [Dispatch] and gets methods with raw params.
//
// Order: one goroutine reads. It runs notifications one after the other, and for each request the Before hook; only
// then is the request released to run beside later messages. So a request whose Before takes a snapshot sees
// every notification that came before it and none that came after it.
package wire
