package gemini

import (
	"testing"

	"github.com/agentls/agentls/agentcore/model"
)

// TestImagesOfResults: from version 3 on images are part of the response, before that they stand beside it.
func TestImagesOfResults(t *testing.T) {
	message := model.Message{Role: model.RoleTool, Parts: []model.Part{
		model.Result{
			ID: "1", Name: "read", Text: "an image",
			Images: []model.Image{{MediaType: "image/png", Data: []byte("data")}},
		},
		model.Result{ID: "2", Name: "list", Text: "a.png"},
	}}
	const image, list = `{"inlineData":{"mimeType":"image/png","data":"ZGF0YQ=="}}`,
		`{"functionResponse":{"id":"2","name":"list","response":{"output":"a.png"}}}`
	for checks, want := range map[bool]string{
		true: `{"role":"user","parts":[{"functionResponse":{"id":"1","name":"read","response":{"output":"an image"},"parts":[` +
			image + `]}},` + list + `]}`,
		false: `{"role":"user","parts":[{"functionResponse":{"id":"1","name":"read","response":{"output":"an image"}}},` +
			list + `,` + image + `]}`,
	} {
		raw, err := (&gemini{checks: checks}).encode(message)
		if err != nil {
			t.Fatal(err)
		}
		if string(raw) != want {
			t.Errorf("got  %s\nwant %s", raw, want)
		}
	}
}

// TestPicturesOfTheUser: they stand behind the text.
func TestPicturesOfTheUser(t *testing.T) {
	raw, err := (&gemini{}).encode(model.Message{Role: model.RoleUser, Parts: []model.Part{
		model.Text{Text: "Look."}, model.Picture{Image: model.Image{MediaType: "image/png", Data: []byte("data")}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"role":"user","parts":[{"text":"Look."},{"inlineData":{"mimeType":"image/png","data":"ZGF0YQ=="}}]}`
	if string(raw) != want || !model.Sees(New(Options{})) {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
}
