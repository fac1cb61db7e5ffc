package event

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"strings"
	"time"
)

// The ids below are opaque strings to everybody but this file: a one-letter prefix for the reader of a
// log, then 18 lower-case base32 digits that sort by time of creation (milliseconds) and end in 42
// random bits. They are safe in file names, URIs and command lines.
type (
	// SessionID names a conversation on a workspace.
	SessionID string
	// RunID names one agent at work: the root of a prompt, or a child.
	RunID string
	// MessageID names one committed message of a run's conversation.
	MessageID string
	// CallID names one tool call. It is ours; the model's own id stays in the model message.
	CallID string
	// FindingID names one finding.
	FindingID string
	// ProposalID names the open edits of one session.
	ProposalID string
	// HunkID names one hunk of a proposal.
	HunkID string
	// AskID names one open question to the user.
	AskID string
	// GrantID names one remembered permission.
	GrantID string
)

// NewSessionID and its kin make a fresh id. They may be called from any goroutine.
func NewSessionID() SessionID { return SessionID(newID('s')) }

// NewRunID makes a fresh id of a run.
func NewRunID() RunID { return RunID(newID('r')) }

// NewMessageID makes a fresh id of a message.
func NewMessageID() MessageID { return MessageID(newID('m')) }

// NewCallID makes a fresh id of a tool call.
func NewCallID() CallID { return CallID(newID('c')) }

// NewFindingID makes a fresh id of a finding.
func NewFindingID() FindingID { return FindingID(newID('f')) }

// NewProposalID makes a fresh id of a proposal.
func NewProposalID() ProposalID { return ProposalID(newID('p')) }

// NewHunkID makes a fresh id of a hunk.
func NewHunkID() HunkID { return HunkID(newID('h')) }

// NewGrantID makes a fresh id of a grant.
func NewGrantID() GrantID { return GrantID(newID('g')) }

// NewAskID makes a fresh id of an ask.
func NewAskID() AskID { return AskID(newID('a')) }

var idDigits = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

func newID(prefix byte) string {
	var raw [12]byte
	binary.BigEndian.PutUint64(raw[:8], uint64(time.Now().UnixMilli())<<16)
	// crypto/rand.Read never fails since Go 1.24: it ends the process instead.
	_, _ = rand.Read(raw[6:])
	var text strings.Builder
	text.WriteByte(prefix)
	text.WriteString(idDigits.EncodeToString(raw[:])[:18])
	return text.String()
}
