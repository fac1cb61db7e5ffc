package langserver

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const (
	// maxMessage bounds a message of a server, in bytes.
	maxMessage = 64 << 20
	// maxHeader bounds a line of a header, in bytes.
	maxHeader = 4 << 10
)

// codec is the framing of LSP's base protocol. It accepts what real servers send: headers in any case, line ends
// without CR, and lines before a header, since some servers print a greeting.
type codec struct{}

// WriteObject implements jsonrpc2.ObjectCodec.
func (codec) WriteObject(w io.Writer, object any) error {
	body, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("encode a message: %w", err)
	}
	_, err = w.Write(append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body)), body...))
	return err
}

// ReadObject implements jsonrpc2.ObjectCodec.
func (codec) ReadObject(r *bufio.Reader, into any) error {
	length := -1
	for lines := 0; ; lines++ {
		line, err := headerLine(r)
		if err != nil {
			return err
		}
		if line == "" && length >= 0 {
			break
		}
		if name, value, ok := strings.Cut(line, ":"); ok &&
			strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || length < 0 || length > maxMessage {
				return fmt.Errorf("the server sent a message of the length %q", strings.TrimSpace(value))
			}
		}
		if lines > 1000 {
			return errors.New("the server wrote something that is not a message of the protocol")
		}
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return fmt.Errorf("read a message of %d bytes: %w", length, err)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("decode a message: %w", err)
	}
	return nil
}

// headerLine reads a line without its end.
func headerLine(r *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxHeader:
			return "", errors.New("the server wrote something that is not a message of the protocol")
		case err == nil:
			return strings.TrimRight(string(line), "\r\n"), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			if errors.Is(err, io.EOF) && len(line) > 0 {
				return "", io.ErrUnexpectedEOF
			}
			return "", err
		}
	}
}
