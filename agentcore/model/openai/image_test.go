package openai

import (
	"testing"

	"github.com/agentls/agentls/agentcore/model"
	"github.com/agentls/agentls/agentcore/model/internal/transport"
)

// seen is a message with the results of two calls, one of which gave an image.
var seen = model.Message{Role: model.RoleTool, Parts: []model.Part{
	model.Result{
		ID: "1", Name: "read", Text: "an image",
		Images: []model.Image{{MediaType: "image/png", Data: []byte("data")}},
	},
	model.Result{ID: "2", Name: "list", Text: "a.png"},
}}

// TestImagesInChat: images follow the results of all calls, which must stand directly behind the calls.
func TestImagesInChat(t *testing.T) {
	raw, err := (&chat{endpoint: endpoint{Endpoint: transport.Endpoint{Own: true}}}).encode(seen)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"content":"an image","tool_call_id":"1","role":"tool"},{"content":"a.png","tool_call_id":"2","role":"tool"},` +
		`{"content":[{"text":"The image of the result of read (1):","type":"text"},{"image_url":{"url":"data:image/png;base64,ZGF0YQ=="},"type":"image_url"}],"role":"user"}`
	if string(raw) != want {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
	raw, err = (&chat{}).encode(seen)
	if err != nil {
		t.Fatal(err)
	}
	const told = `{"content":"an image\n(You cannot see it: images are not sent to this model. Work by its description, or ask the user what it shows.)","tool_call_id":"1","role":"tool"},` +
		`{"content":"a.png","tool_call_id":"2","role":"tool"}`
	if string(raw) != told {
		t.Errorf("another server gets  %s\nwant %s", raw, told)
	}
}

// pointed is a message of the user with an image.
var pointed = model.Message{Role: model.RoleUser, Parts: []model.Part{
	model.Text{Text: "Look."}, model.Picture{Image: model.Image{MediaType: "image/png", Data: []byte("data")}},
}}

// TestPicturesOfTheUser: they stand behind the text, where the server takes them.
func TestPicturesOfTheUser(t *testing.T) {
	responses, err := encodeItems(pointed)
	if err != nil {
		t.Fatal(err)
	}
	own := &chat{endpoint: endpoint{Endpoint: transport.Endpoint{Own: true}}}
	chats, err := own.encode(pointed)
	if err != nil {
		t.Fatal(err)
	}
	others, err := (&chat{}).encode(pointed)
	if err != nil {
		t.Fatal(err)
	}
	for got, want := range map[string]string{
		string(responses): `{"type":"message","role":"user","content":"Look."},{"type":"message","role":"user","content":[` +
			`{"type":"input_image","image_url":"data:image/png;base64,ZGF0YQ=="}]}`,
		string(chats): `{"content":[{"text":"Look.","type":"text"},{"image_url":{"url":"data:image/png;base64,ZGF0YQ=="},` +
			`"type":"image_url"}],"role":"user"}`,
		string(others): `{"content":"Look.\n(An image that you cannot see: images are not sent to this model.)","role":"user"}`,
	} {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if !model.Sees(own) || model.Sees(&chat{}) || !model.Sees(&responder{}) {
		t.Error("who sees is not who is sent images")
	}
}

func TestImagesInResponses(t *testing.T) {
	raw, err := encodeItems(seen)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"function_call_output","call_id":"1","output":[{"type":"input_text","text":"an image"},{"type":"input_image","image_url":"data:image/png;base64,ZGF0YQ=="}]},` +
		`{"type":"function_call_output","call_id":"2","output":"a.png"}`
	if string(raw) != want {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
}
