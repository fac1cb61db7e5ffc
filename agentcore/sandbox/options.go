package sandbox

// Options is what a box is made of. Paths are absolute.
type Options struct {
	// Run is the id of the run; every process finds it in AGENTLS_RUN.
	Run string
	// Roots are the workspace folders. The first one is where commands start that name no folder.
	Roots []string
	// StateDir is a folder of agentls for the boxes. It is made where it is missing, and no command sees it.
	StateDir string
	// OutputDir keeps the whole output of commands whose output was cut; the caller deletes it. Empty means that
	// they go with the box.
	OutputDir string
	// Home is the user's home folder, which commands find empty but for Caches and Tools.
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
	// Ignored tells whether version control ignores a file or folder; what commands make there stays in the box for the
	// next one. It gets absolute paths and is called by the goroutine that runs a command. Nil ignores nothing.
	Ignored func(path string, dir bool) bool
	// Secret tells whether a file of the workspace may hold secrets, and must not be read. It gets absolute paths.
	// Nil hides nothing.
	Secret func(path string) bool
	// Trees are what is known of the workspace folders; nil has the box find it out for itself.
	Trees *Trees
	// IsText tells whether a file's content is text, whose change is reported. Nil takes UTF-8 without NUL for text.
	IsText func(content []byte) bool
	// Report is what Probe said earlier; nil probes again.
	Report *Report
}
