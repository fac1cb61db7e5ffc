package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"strconv"
	"strings"
)

const (
	// maxHeader bounds one header block in bytes, all lines and line ends included. Real ones have some 30 bytes.
	maxHeader = 16 << 10
	// maxDiscard bounds the bytes of an oversized body that are skipped. A larger Content-Length is taken for a corrupt
	// one: a server that went on skipping would hear nothing else.
	maxDiscard = 4 << 30
)

// ErrFraming is wrapped by the errors of a byte stream whose message boundaries are lost. The stream cannot go on: if
// it looked for the next header in what may be a document's text, that text could pose as messages.
var ErrFraming = errors.New("message framing lost")

// header is one parsed header block.
type header struct {
	length  int64  // bytes of the body
	charset string // of Content-Type, lower case; empty if not given
}

// utf8 reports whether the body's encoding is one that the protocol allows. "utf8" is accepted for
// backwards compatibility (LSP 3.18, Base Protocol, Header Part).
func (h header) utf8() bool {
	return h.charset == "" || h.charset == "utf-8" || h.charset == "utf8"
}

// readHeader reads one header block up to and including its blank line. It returns io.EOF at the end of the stream
// between two messages, io.ErrUnexpectedEOF inside of a block, and an error that wraps ErrFraming for a block that does
// not tell the length of its body. Names are matched in any letter case, lines may end in LF alone, and blank lines
// before the block are skipped. r's buffer must hold at least maxHeader bytes.
func readHeader(r *bufio.Reader) (header, error) {
	h := header{length: -1}
	fields := 0
	for size := 0; ; {
		line, err := r.ReadSlice('\n')
		size += len(line)
		switch {
		case errors.Is(err, bufio.ErrBufferFull) || size > maxHeader:
			return header{}, fmt.Errorf("%w: the header block is longer than %d bytes", ErrFraming, maxHeader)
		case errors.Is(err, io.EOF) && (fields > 0 || len(line) > 0):
			return header{}, io.ErrUnexpectedEOF
		case err != nil:
			return header{}, err
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if len(line) == 0 {
			if fields == 0 {
				continue
			}
			if h.length < 0 {
				return header{}, fmt.Errorf("%w: no Content-Length in the header block", ErrFraming)
			}
			return h, nil
		}
		fields++
		if err := h.field(line); err != nil {
			return header{}, err
		}
	}
}

// field reads one header line without its line end.
func (h *header) field(line []byte) error {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok || !isToken(name) {
		return fmt.Errorf("%w: %.40q is no header field", ErrFraming, line)
	}
	value = bytes.TrimSpace(value)
	switch strings.ToLower(string(name)) {
	case "content-length":
		n, err := strconv.ParseUint(string(value), 10, 63)
		if err != nil {
			return fmt.Errorf("%w: the Content-Length %.40q is no length in bytes", ErrFraming, value)
		}
		if h.length >= 0 && h.length != int64(n) {
			return fmt.Errorf("%w: two different Content-Length fields, %d and %d", ErrFraming, h.length, n)
		}
		if n > maxDiscard {
			return fmt.Errorf("%w: a Content-Length of %d cannot be meant", ErrFraming, n)
		}
		h.length = int64(n)
	case "content-type":
		// A media type that cannot be parsed says nothing about the encoding, and UTF-8 is the default.
		if _, params, err := mime.ParseMediaType(string(value)); err == nil {
			h.charset = strings.ToLower(params["charset"])
		}
	}
	return nil
}

// isToken reports whether b is a token of RFC 9110, section 5.6.2, as a header field's name must be. It keeps the rest
// of a body that was longer than announced from being read as a header.
func isToken(b []byte) bool {
	for _, c := range b {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9',
			bytes.IndexByte([]byte("!#$%&'*+-.^_`|~"), c) >= 0:
		default:
			return false
		}
	}
	return len(b) > 0
}
