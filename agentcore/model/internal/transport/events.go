package transport

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"sync"
)

// maxLine bounds a line of an event stream, in bytes.
const maxLine = 32 << 20

// lineBuffer is the size of the buffers in lineBuffers, which hold the lines of event streams up to that length. A
// stream lasts for a turn, and a new buffer for each stream would be most of the garbage that reading it makes.
const lineBuffer = 8 << 10

var lineBuffers = sync.Pool{New: func() any { return new([lineBuffer]byte) }}

// Events reads the data of server-sent events (WHATWG HTML, section 9.2.6). An event at the end of the stream counts
// only if an empty line follows it. The consumer may use the data until it asks for the next event. The error is
// bufio.ErrTooLong for a line above 32 MiB, or that of the reader.
func Events(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewScanner(r)
		buffer := lineBuffers.Get().(*[lineBuffer]byte)
		defer lineBuffers.Put(buffer)
		lines.Buffer(buffer[:0], maxLine)
		lines.Split(splitLine())
		var data []byte
		begun := false // a data field came
		for first := true; lines.Scan(); first = false {
			line := lines.Bytes()
			if first {
				line = bytes.TrimPrefix(line, []byte("\ufeff"))
			}
			if len(line) == 0 {
				if begun && !yield(data, nil) {
					return
				}
				data, begun = data[:0], false
				continue
			}
			field, value, _ := bytes.Cut(line, []byte(":"))
			if string(field) != "data" {
				continue // a comment, the event's name, its id
			}
			if begun {
				data = append(data, '\n')
			}
			data, begun = append(data, bytes.TrimPrefix(value, []byte(" "))...), true
		}
		if err := lines.Err(); err != nil {
			yield(nil, fmt.Errorf("read the answer: %w", err))
		}
	}
}

// splitLine makes a split function for lines that end with LF, CR LF or CR. It leaves out a last line without an end. A
// CR ends the line at once, and an LF that follows is skipped: to wait for the LF would hold an event back.
func splitLine() bufio.SplitFunc {
	cr := false   // the last line ended with CR
	searched := 0 // the first bytes of the data have no end of a line: long lines are not searched again for each read
	return func(data []byte, _ bool) (advance int, line []byte, err error) {
		begin := 0
		if cr && len(data) > 0 && data[0] == '\n' {
			begin = 1 // the rest of the last line's end
			searched = max(searched, begin)
		}
		at := bytes.IndexAny(data[searched:], "\r\n")
		if at < 0 {
			searched = len(data)
			return 0, nil, nil
		}
		at += searched
		searched, cr = 0, data[at] == '\r'
		return at + 1, data[begin:at], nil
	}
}
