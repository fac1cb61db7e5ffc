package secret

import "strings"

const (
	// maxHeld bounds how much of a stream is held back because it may begin a token, in bytes.
	maxHeld = 512
	// maxBlock bounds how much of a private key is held back, in bytes.
	maxBlock = 20 << 10
)

// Stream redacts a text that comes in pieces, which may end within a secret. It belongs to one goroutine.
type Stream struct {
	redactor *Redactor
	held     string
}

// Stream begins a text.
func (r *Redactor) Stream() *Stream { return &Stream{redactor: r} }

// Write takes the next piece and returns what may be shown now: everything except an end that may be the beginning of a
// secret.
func (s *Stream) Write(piece string) string {
	// A token has no fixed length. So its form must not be looked for before its end was seen.
	text := s.redactor.known(s.held + piece)
	keep := s.redactor.beginning(text)
	s.held = text[len(text)-keep:]
	return s.redactor.tokens(text[:len(text)-keep])
}

// Flush returns what was held back, since the text has ended.
func (s *Stream) Flush() string {
	text := s.held
	s.held = ""
	return s.redactor.Text(text)
}

// beginning returns how many bytes at the end of a text may be the beginning of a secret.
func (r *Redactor) beginning(text string) int {
	keep := 0
	if f := r.current.Load(); f != nil {
		for _, form := range f.list {
			for n := min(len(form)-1, len(text)); n > keep; n-- {
				if strings.HasSuffix(text, form[:n]) {
					keep = n
					break
				}
			}
		}
	}
	// A token has no spaces. Hold the last word back, since its end was not seen yet.
	word := 0
	for word < len(text) && isTokenByte(text[len(text)-1-word]) {
		word++
	}
	if word <= maxHeld && hinted(text[len(text)-word:]) {
		keep = max(keep, word)
	}
	// The text may end within a hint, such as "gith".
	for _, hint := range hints {
		for n := min(len(hint)-1, len(text)); n > keep; n-- {
			if strings.HasSuffix(text, hint[:n]) {
				keep = n
				break
			}
		}
	}
	// The text must not be cut within a private key.
	if at := strings.LastIndex(text, "-----BEGIN "); at >= 0 && len(text)-at <= maxBlock &&
		len(text)-keep < at+blockEnd(text[at:]) {
		keep = max(keep, len(text)-at)
	}
	return keep
}

// blockEnd is the offset behind the last line of a private key, or the end of the text if that line is not complete.
func blockEnd(block string) int {
	const end = "-----END "
	if last := strings.Index(block, end); last >= 0 {
		if dashes := strings.Index(block[last+len(end):], "-----"); dashes >= 0 {
			return last + len(end) + dashes + len("-----")
		}
	}
	return len(block) + 1
}

func isTokenByte(b byte) bool {
	return b == '_' || b == '-' || b == '.' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}
