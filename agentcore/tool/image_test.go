package tool_test

import (
	"bytes"
	"encoding/hex"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agentls/agentls/agentcore/tool/tooltest"
)

func TestReadImages(t *testing.T) {
	picture := image.NewPaletted(image.Rect(0, 0, 40, 30), color.Palette{color.Black, color.White})
	var asPNG, asGIF, asJPEG, wide bytes.Buffer
	noise := image.NewGray(image.Rect(0, 0, 2200, 2000))
	source := rand.New(rand.NewPCG(1, 2))
	for i := range noise.Pix {
		noise.Pix[i] = byte(source.Uint32())
	}
	var large bytes.Buffer
	for _, err := range []error{
		png.Encode(&asPNG, picture), gif.Encode(&asGIF, picture, nil), jpeg.Encode(&asJPEG, picture, nil),
		png.Encode(&large, noise),
		png.Encode(&wide, image.NewGray(image.Rect(0, 0, 9000, 1))),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	// One pixel, of each kind of WebP.
	webp := func(text string) string {
		data, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	h := tooltest.New(t, map[string]string{
		"a.png": asPNG.String(), "a.gif": asGIF.String(), "a.jpg": asJPEG.String(), "large.png": large.String(),
		"wide.png":      wide.String(),
		"lossy.webp":    webp("52494646 1a000000 57454250 56503820 0e000000 300100 9d012a 0a00 1400 000000000000"),
		"lossless.webp": webp("52494646 1a000000 57454250 5650384c 0d000000 2f 09c00400 00000000000000000000"),
		"extended.webp": webp("52494646 1a000000 57454250 56503858 0a000000 00000000 090000 130000 0000"),
		"broken.png":    asPNG.String()[:12], "my doc.pdf": "%PDF-1.4\n\x00 /Type /Page /Type /Page\n",
		"id_rsa": "\x89PNG\r\n\x1a\n\x00", "bin.dat": "a\x00b", "text.png": "no image\n",
	})
	for name, want := range map[string]string{
		"a.png": "image/png, 40 × 30 pixels", "a.gif": "image/gif, 40 × 30 pixels",
		"a.jpg":      "image/jpeg, 40 × 30 pixels",
		"lossy.webp": "image/webp, 10 × 20 pixels", "lossless.webp": "image/webp, 10 × 20 pixels",
		"extended.webp": "image/webp, 10 × 20 pixels",
	} {
		result := call(t, h, "read", `{"path":"`+name+`"}`)
		if len(result.Images) != 1 || !strings.HasPrefix(result.Text, name+": This is an image: "+want+", ") ||
			!strings.HasPrefix(want, result.Images[0].MediaType) || len(result.Paths) != 1 {
			t.Errorf("%s: %q, %d images", name, result.Text, len(result.Images))
		}
	}
	for name, want := range map[string]string{
		"large.png": "models take 3750000 at most; make a smaller copy", "wide.png": "9000 × 1 pixels",
		"broken.png": "is an image (image/png, 12 bytes) that is not shown",
		"my doc.pdf": "my doc.pdf: This is a PDF document (version 1.4) of 2 pages. It has 35 bytes",
		"text.png":   "1\tno image",
	} {
		result := call(t, h, "read", `{"path":"`+name+`"}`)
		if len(result.Images) != 0 || !strings.Contains(result.Text, want) {
			t.Errorf("%s: %q, %d images", name, result.Text, len(result.Images))
		}
	}
	if text := call(t, h, "read", `{"path":"my doc.pdf"}`).Text; !strings.Contains(text,
		"pdftotext -layout 'my doc.pdf' -") {
		t.Errorf("the document: %q", text)
	}
	refused(t, h, "read", `{"path":"bin.dat"}`, "not a text file")
	refused(t, h, "read", `{"path":"id_rsa"}`, "not a text file")
	refused(t, h, "read", `{"path":"no.png"}`, "does not exist")
}
