package lsptest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxBody bounds a message of the server, in bytes.
const maxBody = 256 << 20

// codec is the framing of LSP's base protocol. It is strict about what it reads: it reports to the editor what a
// lenient reader would accept.
type codec struct {
	fault func(format string, args ...any)
	trace func(direction string, body []byte)
}

// WriteObject implements jsonrpc2.ObjectCodec.
func (c codec) WriteObject(w io.Writer, obj any) error {
	body, err := json.Marshal(obj)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	c.trace("→", body)
	if _, err := fmt.Fprintf(w, "Content-Length: %d\r\n\r\n", len(body)); err != nil {
		return err
	}
	_, err = w.Write(body)
	return err
}

// ReadObject implements jsonrpc2.ObjectCodec.
func (c codec) ReadObject(r *bufio.Reader, v any) error {
	length := -1
	for {
		line, err := r.ReadString('\n')
		switch {
		case (errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe)) && line == "" && length < 0:
			return io.EOF // one side has closed the connection between two messages
		case err != nil:
			return fmt.Errorf("read a header: %w", err)
		}
		line, crlf := strings.CutSuffix(line, "\r\n")
		if !crlf {
			c.fault("framing: header line %q does not end with CRLF", line)
		}
		if line == "" {
			break
		}
		name, value, _ := strings.Cut(line, ": ")
		switch name {
		case "Content-Length":
			if length, err = strconv.Atoi(value); err != nil || length < 0 || length > maxBody {
				return fmt.Errorf("framing: %q is no length", line)
			}
		case "Content-Type":
		default:
			c.fault("framing: header line %q is not one of LSP's", line)
		}
	}
	if length < 0 {
		return errors.New("framing: a header without Content-Length")
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return fmt.Errorf("read a message of %d bytes: %w", length, err)
	}
	c.trace("←", body)
	c.envelope(body)
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("decode a message: %w", err)
	}
	return nil
}

// envelope checks the members of a message (JSON-RPC 2.0, sections 4 and 5).
func (c codec) envelope(body []byte) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(body, &m); err != nil {
		c.fault("envelope: the message is no object: %s", shorten(string(body)))
		return
	}
	if string(m["jsonrpc"]) != `"2.0"` {
		c.fault("envelope: jsonrpc is %s", m["jsonrpc"])
	}
	_, method := m["method"]
	_, result := m["result"]
	_, failure := m["error"]
	if !method && result == failure {
		c.fault("envelope: an answer has exactly one of result and error: %s", shorten(string(body)))
	}
	if method && (result || failure) {
		c.fault("envelope: a request with a result: %s", shorten(string(body)))
	}
	if params, ok := m["params"]; ok && (len(params) == 0 || params[0] != '{' && params[0] != '[') {
		c.fault("envelope: params is neither object nor array: %s", shorten(string(body)))
	}
}

// shorten cuts a text for a message.
func shorten(text string) string {
	if runes := []rune(text); len(runes) > 400 {
		return string(runes[:300]) + " … " + string(runes[len(runes)-80:])
	}
	return text
}
