// Package mcp is the client side of the Model Context Protocol
// (https://modelcontextprotocol.io/specification/2025-11-25): it keeps a server connected, over pipes or streamable
// HTTP, and knows what it offers. It trusts nothing that a server says: names, texts, schemas and sizes are bounded and
// cleaned before anybody sees them. No type of the SDK leaves the package.
//
// The handshake is the one of 2025-11-25, since many servers do not answer versions that they do not know. Sampling and
// elicitation are not offered.
package mcp
