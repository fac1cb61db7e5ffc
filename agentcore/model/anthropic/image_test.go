package anthropic

import (
	"testing"

	"github.com/agentls/agentls/agentcore/model"
)

func TestImagesOfResults(t *testing.T) {
	raw, err := encode(blocks([]model.Part{model.Result{
		ID: "1", Name: "read", Text: "an image",
		Images: []model.Image{{MediaType: "image/png", Data: []byte("data")}},
	}}))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"tool_use_id":"1","content":[{"text":"an image","type":"text"},{"source":{"data":"ZGF0YQ==","media_type":"image/png","type":"base64"},"type":"image"}],"type":"tool_result"}`
	if string(raw) != want {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
}

// TestPicturesOfTheUser: they stand behind the text.
func TestPicturesOfTheUser(t *testing.T) {
	raw, err := encode(blocks([]model.Part{
		model.Text{Text: "Look."}, model.Picture{Image: model.Image{MediaType: "image/png", Data: []byte("data")}},
	}))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"text":"Look.","type":"text"},{"source":{"data":"ZGF0YQ==","media_type":"image/png","type":"base64"},"type":"image"}`
	if string(raw) != want || !model.Sees(New(Options{})) {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
}
