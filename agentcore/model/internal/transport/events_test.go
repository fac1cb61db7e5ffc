package transport

import (
	"bufio"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestEvents(t *testing.T) {
	for stream, want := range map[string][]string{
		"":                           nil,
		"data: a\n\n":                {"a"},
		"data: a\n":                  nil,
		"data: a":                    nil,
		"data:a\n\ndata:  b\n\n":     {"a", " b"},
		"data: a\ndata: b\n\n":       {"a\nb"},
		"data\n\n":                   {""},
		"event: x\n\n":               nil,
		"\ufeffdata: a\n\n":          {"a"},
		": hi\n\nid: 1\ndata: a\n\n": {"a"},
		"data: a\r\n\r\n":            {"a"},
		"data: a\r\rdata: b\r\r":     {"a", "b"},
		"data: a\r\r\ndata: b\n\n":   {"a", "b"},
		"\n\n\ndata: {\"x\": 1}\n\n": {`{"x": 1}`},
		"datas: a\ndata : b\n\n":     nil,
	} {
		for name, reader := range map[string]io.Reader{
			"whole": strings.NewReader(stream),
			"bytes": iotest.OneByteReader(strings.NewReader(stream)),
		} {
			var got []string
			for data, err := range Events(reader) {
				if err != nil {
					t.Errorf("%q, %s: %v", stream, name, err)
				}
				got = append(got, string(data))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q, %s: %q, want %q", stream, name, got, want)
			}
		}
	}
}

// TestEventsAreNotHeldBack sends an event and nothing behind it: it must come before more is read.
func TestEventsAreNotHeldBack(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\r"} {
		reader, writer := io.Pipe()
		written := make(chan error, 1)
		go func() {
			_, err := io.WriteString(writer, "data: a"+end+end+"data: b"+end+end)
			written <- err
		}()
		var got []string
		for data, err := range Events(reader) {
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, string(data)); len(got) == 2 {
				break
			}
		}
		if err := errors.Join(<-written, writer.Close()); err != nil || !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("%q: %q, %v", end, got, err)
		}
	}
}

func TestEventsEndWithTheReadersError(t *testing.T) {
	broken := errors.New("broken")
	for _, test := range []struct {
		reader io.Reader
		want   error
	}{
		{io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)), broken},
		{strings.NewReader("data: a\n\ndata: " + strings.Repeat("x", maxLine)), bufio.ErrTooLong},
	} {
		var got []string
		var last error
		for data, err := range Events(test.reader) {
			if last = err; err == nil {
				got = append(got, string(data))
			}
		}
		if !slices.Equal(got, []string{"a"}) || !errors.Is(last, test.want) {
			t.Errorf("%q, %v, want %v", got, last, test.want)
		}
	}
	for range Events(strings.NewReader("data: a\n\ndata: b\n\n")) {
		break // leaving is no failure
	}
}

// A stream leaves no buffer behind that the next one could have used.
func TestStreamsShareTheirBuffers(t *testing.T) {
	const streams = 1000
	read := func() {
		for range streams {
			for _, err := range Events(strings.NewReader("data: a\n\n")) {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	read()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	read()
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / streams; each > lineBuffer/2 {
		t.Errorf("a stream takes %d bytes", each)
	}
}
