package workspace

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
)

// Encode turns a text into the bytes of a file of this format; it is the inverse of what [View.Read] does. An
// empty Encoding is UTF-8. The error says that the encoding is none that files are read in.
func (f Format) Encode(text string) ([]byte, error) {
	var order binary.AppendByteOrder
	switch f.Encoding {
	case "", "utf-8":
		if f.BOM {
			return []byte("\ufeff" + text), nil
		}
		return []byte(text), nil
	case "utf-16le":
		order = binary.LittleEndian
	case "utf-16be":
		order = binary.BigEndian
	default:
		return nil, fmt.Errorf("the encoding %s cannot be written", f.Encoding)
	}
	var data []byte
	if f.BOM {
		data = order.AppendUint16(data, 0xfeff)
	}
	for _, unit := range utf16.Encode([]rune(text)) {
		data = order.AppendUint16(data, unit)
	}
	return data, nil
}

// After returns the text that the edit makes, "" where it deletes the file.
func (e FileEdit) After() string {
	if e.Delete {
		return ""
	}
	var b strings.Builder
	at := 0
	for _, edit := range e.Edits {
		b.WriteString(e.Before[at:edit.Start])
		b.WriteString(edit.New)
		at = edit.End
	}
	b.WriteString(e.Before[at:])
	return b.String()
}
