package tool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/agentls/agentls/agentcore/workspace"

	// The formats whose size is read.
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
)

const (
	// imageBytes is how large an image for a model may be, in bytes: the vendors allow 5 MB in base64.
	imageBytes = 3_750_000
	// imageSide is how wide and high an image may be, in pixels: the vendors refuse or shrink larger ones.
	imageSide = 8000
)

// ReadPicture reads an image of the workspace, bounded as the tool read bounds it. The note says what it is; the error
// why it cannot be shown.
func ReadPicture(layer *workspace.Layer, path string) (picture Image, note string, err error) {
	data, err := layer.ReadBytes(path, otherBytes)
	if err != nil {
		return Image{}, "", err
	}
	return pictureOf(data)
}

// pictureOf finds out what a picture is, by its bytes. The note says that, for models that do not see, too. The error
// says why it cannot be shown.
func pictureOf(data []byte) (picture Image, note string, err error) {
	picture = Image{Data: data}
	if w, h, ok := webpSize(data); ok {
		picture.MediaType, picture.Width, picture.Height = "image/webp", w, h
	} else {
		config, format, err := image.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			if errors.Is(err, image.ErrFormat) {
				err = errors.New("its bytes are not a PNG, JPEG, GIF or WebP image, and models take no other")
			} else {
				err = fmt.Errorf("its data is damaged (%w)", err)
			}
			return Image{}, "", err
		}
		picture.MediaType, picture.Width, picture.Height = "image/"+format, config.Width, config.Height
	}
	note = fmt.Sprintf("This is an image: %s, %d × %d pixels, %d bytes.", picture.MediaType, picture.Width,
		picture.Height, len(data))
	switch {
	case len(data) > imageBytes:
		return Image{}, "",
			fmt.Errorf("it has %d bytes (%s, %d × %d pixels), and models take %d at most; make a smaller copy",
				len(data), picture.MediaType, picture.Width, picture.Height, imageBytes)
	case picture.Width > imageSide || picture.Height > imageSide:
		return Image{}, "",
			fmt.Errorf("it has %d × %d pixels (%s), and models take %d on a side at most; make a smaller copy",
				picture.Width, picture.Height, picture.MediaType, imageSide)
	case picture.Width < 1 || picture.Height < 1:
		return Image{}, "", errors.New("it is an image without pixels")
	}
	return picture, note, nil
}

// otherBytes is how much of a file is looked at that is no text.
const otherBytes = 16 << 20

// readOther says what kind of image or PDF document a file is. ok is false for any other file.
func readOther(host Workspace, name string) (result Result, ok bool) {
	view := host.Files().View()
	path, err := view.Resolve(name)
	if err != nil {
		return Result{}, false
	}
	data, err := host.Files().ReadBytes(path, otherBytes)
	if err != nil {
		return Result{}, false
	}
	shown := view.Shown(path)
	result.Paths = []string{path}
	kind, _, _ := strings.Cut(http.DetectContentType(data), ";")
	switch {
	case kind == "application/pdf":
		result.Text = fmt.Sprintf(
			"%s: %s It has %d bytes. The text of PDFs is not read here: turn it into text by a command, such as "+
				"pdftotext -layout %s -, where there is one, or ask the user what it says.",
			shown, aboutPDF(data, false), len(data), quoteWord(shown))
		result.Summary = "PDF document"
	case strings.HasPrefix(kind, "image/"):
		picture, note, err := pictureOf(data)
		result.Summary = kind
		if err != nil {
			result.Text = fmt.Sprintf("%s is an image (%s, %d bytes) that is not shown: %v.", shown, kind,
				len(data), err)
			break
		}
		result.Text, result.Images = shown+": "+note, []Image{picture}
	default:
		return Result{}, false
	}
	return result, true
}

// quoteWord quotes a word for a shell.
func quoteWord(word string) string {
	if strings.IndexFunc(word, func(r rune) bool {
		return !strings.ContainsRune("-_./+,:@%=", r) && (r < '0' || r > '9') && (r < 'a' || r > 'z') &&
			(r < 'A' || r > 'Z')
	}) < 0 && word != "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// webpSize reads the size of a WebP picture (RFC 9649, sections 2.4 to 2.7).
func webpSize(data []byte) (width, height int, ok bool) {
	if len(data) < 30 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WEBP" {
		return 0, 0, false
	}
	chunk := data[20:]
	switch string(data[12:16]) {
	case "VP8 ": // a frame's tag, its start code, then 14 bits each (RFC 6386, section 9.1)
		return int(binary.LittleEndian.Uint16(chunk[6:]) & 0x3fff), int(binary.LittleEndian.Uint16(chunk[8:]) & 0x3fff),
			true
	case "VP8L":
		bits := binary.LittleEndian.Uint32(chunk[1:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, true
	case "VP8X":
		return 1 + int(chunk[4]) + int(chunk[5])<<8 + int(chunk[6])<<16, 1 + int(chunk[7]) + int(chunk[8])<<8 +
			int(chunk[9])<<16, true
	}
	return 0, 0, false
}

// aboutPDF says what can be told about a PDF document without reading it.
func aboutPDF(data []byte, part bool) string {
	version := ""
	if rest, ok := bytes.CutPrefix(data, []byte("%PDF-")); ok && len(rest) >= 3 && utf8.Valid(rest[:3]) {
		version = " (version " + strings.TrimSpace(string(rest[:3])) + ")"
	}
	pages := 0
	for _, m := range pdfCount().FindAllSubmatch(data, -1) {
		n := 0
		fmt.Sscan(string(m[1])+string(m[2]), &n)
		pages = max(pages, n)
	}
	if pages == 0 && !part {
		pages = len(pdfPage().FindAll(data, -1))
	}
	if pages == 0 {
		return fmt.Sprintf("This is a PDF document%s.", version)
	}
	return fmt.Sprintf("This is a PDF document%s of %s.", version, count(pages, "page", "pages"))
}
