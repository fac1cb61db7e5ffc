package sandbox

// Options describe a box. Paths are absolute.
type Options struct {
	// Run is the id of the run. Every process of the box has it in AGENTLS_RUN.
	Run string
	// Roots are the workspace folders. Commands that name no folder start in the first one.
	Roots []string
	// StateDir is a folder of agentls for the boxes. It is made where it is missing, and no command sees it.
	StateDir string
	// OutputDir is the folder for the whole outputs of commands whose output was cut; the caller deletes them. If it is
	// empty, they are deleted with the box.
	OutputDir string
	// Home is the user's home folder, which commands find empty except for Caches and Tools.
	Home string
	// Caches are folders that commands find filled and may write to; what they write stays in the box.
	// [DefaultCaches] has those of common tools.
	Caches []Cache
	// Tools are folders below Home that stay visible, read-only. [DefaultTools] has those of PATH.
	Tools []string
	// Hidden are further files and folders that no command may read.
	Hidden []string
	// Protected are paths relative to each root that commands cannot change, such as ".git".
	Protected []string
	// Env are the variables of commands, as KEY=value. [Environ] picks those that are harmless.
	Env []string
	// Network says what commands reach.
	Network Network
	// Limits bound each command.
	Limits Limits
	// Ignored reports whether version control ignores a file or folder. What commands make there stays in the box for
	// the next command. It gets absolute paths and is called by the goroutines that run a command or collect the
	// changes of one that is followed. Nil ignores nothing.
	Ignored func(path string, dir bool) bool
	// Secret reports whether a file of the workspace may hold secrets and must not be read. It gets absolute paths. Nil
	// hides nothing.
	Secret func(path string) bool
	// Trees is what is known of the workspace folders. If it is nil, the box finds it out for itself.
	Trees *Trees
	// IsText reports whether a file's content is text. Only changes of text are reported. Nil takes UTF-8 without NUL
	// for text.
	IsText func(content []byte) bool
	// Report is the result of an earlier Probe; nil probes again.
	Report *Report
}
