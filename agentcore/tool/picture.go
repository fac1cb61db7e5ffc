package tool

// Picture finds out what an image is, by its bytes, for tools of others. The note says that, for models that do not
// see, too. The error says why it cannot be shown.
func Picture(data []byte) (picture Image, note string, err error) { return pictureOf(data) }
