package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	protocol "github.com/agentls/agentls/agentcore/acp"
)

// maxLine bounds a message of the client, in bytes.
const maxLine = 64 << 20

// stream is the connection's lines, each a message. It answers what is no message itself, and keeps the ids of requests
// as they came: each reaches the handler as a string that holds its JSON.
type stream struct {
	in    *bufio.Reader
	close func() error

	mu  sync.Mutex // guards out
	out io.Writer
}

var errTooLong = errors.New("the message is too long")

// envelope is what all messages have.
type envelope struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  *string         `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// Close implements jsonrpc2.ObjectStream.
func (s *stream) Close() error { return s.close() }

// WriteObject implements jsonrpc2.ObjectStream. A message is written as a whole.
func (s *stream) WriteObject(obj any) error {
	line, err := protocol.Line(obj)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err = s.out.Write(line)
	return err
}

// answer sends the answer to a request by the id that the handler got.
func (s *stream) answer(id string, result any, failure *jsonrpc2.Error) error {
	reply := struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result,omitempty"`
		Error   *jsonrpc2.Error `json:"error,omitempty"`
	}{"2.0", json.RawMessage(id), result, failure}
	return s.WriteObject(reply)
}

// ReadObject implements jsonrpc2.ObjectStream.
func (s *stream) ReadObject(v any) error {
	for {
		line, err := s.line()
		switch {
		case errors.Is(err, errTooLong):
			err = s.refuse(nil, jsonrpc2.CodeParseError,
				fmt.Sprintf("a line has more than %d bytes; send less at once", maxLine))
		case err != nil:
			return err
		default:
			var ok bool
			if ok, err = s.read(line, v); ok {
				return nil
			}
		}
		if err != nil {
			return err
		}
	}
}

// line reads the next line that is not blank. What is too long is skipped.
func (s *stream) line() ([]byte, error) {
	var line []byte
	long := false
	for {
		piece, err := s.in.ReadSlice('\n')
		if long = long || len(line)+len(piece) > maxLine; !long {
			line = append(line, piece...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return nil, err // a last line without its end is no message
		case long:
			return nil, errTooLong
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

// read reads a message into v. Where the line is none, it answers so, and ok is false.
func (s *stream) read(line []byte, v any) (ok bool, err error) {
	var head envelope
	if !json.Valid(line) {
		err = json.Unmarshal(line, &head)
		return false, s.refuse(nil, jsonrpc2.CodeParseError,
			fmt.Sprintf("the line is no JSON: %v; send each message on a line of its own", err))
	}
	if err := json.Unmarshal(line, &head); err != nil || line[0] != '{' {
		return false, s.refuse(nil, jsonrpc2.CodeInvalidRequest,
			"a message is one JSON object, with jsonrpc and method, or with jsonrpc, id and result or error")
	}
	switch id := bytes.TrimSpace(head.ID); {
	case head.Method == nil && len(head.Result) == 0 && len(head.Error) == 0:
		return false, s.refuse(id, jsonrpc2.CodeInvalidRequest,
			"the message has neither method nor result nor error")
	case head.Method != nil && len(id) > 0:
		if id[0] == '{' || id[0] == '[' || id[0] == 't' || id[0] == 'f' {
			return false, s.refuse(nil, jsonrpc2.CodeInvalidRequest, "the id is neither a number nor a string")
		}
		if head.ID, err = json.Marshal(string(id)); err != nil {
			return false, err
		}
		if line, err = json.Marshal(head); err != nil {
			return false, err
		}
	}
	if err := json.Unmarshal(line, v); err != nil {
		return false, s.refuse(nil, jsonrpc2.CodeInvalidRequest,
			fmt.Sprintf("the message is none of JSON-RPC: %v", err))
	}
	return true, nil
}

// refuse answers what is no request. An id that is not known is null.
func (s *stream) refuse(id []byte, code int64, why string) error {
	if len(id) == 0 {
		id = []byte("null")
	}
	return s.answer(string(id), nil, &jsonrpc2.Error{Code: code, Message: why})
}
