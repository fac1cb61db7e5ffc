// Package model is the boundary to language models: what a turn of an agent asks of a model, and the stream that the
// model returns. Types of vendors exist only in the sub-package of their wire.
//
// The following decisions hold for all wires, each with its reason.
//
// # Failures
//
// There is one policy for retries ([Retry]), which only the engine applies: the wires do not retry. Its time begins
// with the first failure. The wires notice silence, since they see each byte: between two events of a model, minutes
// may pass without a failure.
//
// A call that is written as text is reported to the model, but never made ([LeakedCall]). JSON that only looks like a
// call may be the answer that was asked for. Therefore the model is told once, and may keep its answer.
//
// Options that a server refuses are left out. Summaries and sealed reasoning of Responses require a verified account
// and a reasoning model. If the server refuses them, the wire repeats the request at once without them, and remembers
// it.
//
// # The conversation on the wire
//
// Each message is encoded once. A wire keeps the JSON of the messages as one growing text, and the JSON around them for
// the requests that differ only in their messages (model/internal/transport). So turn 2,000 costs as much as turn 2.
//
// Sealed reasoning names its vendor. Thought signatures (Gemini, also behind Chat Completions) and encrypted reasoning
// (Responses) are a [Reasoning] whose signature begins with the vendor's name and a colon. Without a text, it belongs
// to the part behind it. Each wire sends only its own reasoning back, at the same places, so that a conversation can go
// on with another model.
//
// Chat Completions accepts images only in the user's messages. Only the vendor's own server gets images: another server
// may have a model that cannot see, and would refuse the whole request.
package model
