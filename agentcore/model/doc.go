// Package model is the boundary to language models: what an agent's turn asks of one, and what comes back as a stream.
// Vendor types live in the sub-package of their wire and nowhere else.
//
// What follows are the decisions that all wires share, each with its reason.
//
// # Failures
//
// There is one policy for retries ([Retry]), and the engine alone applies it: the wires try nothing again. Its time
// counts from the first failure. The wires notice silence, since they see each byte: between the events of a model
// minutes may pass by right.
//
// A call written as text is told, never made ([LeakedCall]). Plain JSON that reads like a call may be the answer that
// was asked for, so the model is told once, and may mean it.
//
// What a server refuses of our own wishes is left out. Summaries and sealed reasoning of Responses need a verified
// account and a model that reasons; on that refusal the wire asks at once without them, and remembers it.
//
// # The conversation on the wire
//
// Each message is encoded once. The wires keep the JSON of the messages as one growing text, and that of what is
// around it for the requests that differ in their messages alone (model/internal/transport), so that turn 2,000 costs
// what turn 2 does.
//
// Sealed reasoning says whose it is. Thought signatures (Gemini, also behind Chat Completions) and encrypted reasoning
// (Responses) are a [Reasoning] whose signature begins with the vendor's name and a colon; without a text it belongs to
// the part behind it. Each wire sends its own back in their places and leaves out all others', so that a conversation
// can go on with another model.
//
// Chat Completions has images only as the user's, and only the vendor's own server gets them: other servers may have a
// model that does not see, and refuse everything.
package model
