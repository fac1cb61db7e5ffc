// Package sandbox runs commands on a copy-on-write view of the workspace. What a command sees is the disk below what
// the agent sees (unsaved documents, proposed edits); what it writes reaches no file of the user, but comes back as
// changes.
//
// On Linux a command runs in namespaces of its own, with the workspace as an overlay at its own absolute path, the rest
// of the disk read-only, the home folder hidden and no network. Where that cannot be had, [Probe] says which weaker
// level is left, and why.
//
// # Levels
//
// [Probe] tries each level, and `agentls doctor` says which one the machine has and why. The levels are: namespaces of
// our own; the same walls built by `bwrap`, setuid or with a profile of its own, around a copy at the workspace's own
// path, with our process as the first one inside, which adds limits, Landlock and the filter; a copy alone, with no new
// privileges. Before Linux 6.15 nothing can be cloned of a file system that was never attached, so what hides secrets
// is a file of the box.
//
// # The process
//
// A sandbox starts from our own binary. The process is told apart before most packages are initialized, for which this
// package imports little (no net); [Dispatch] is the first line of main and of each TestMain that needs it. The process
// builds the walls, gives up its rights on the one thread that then starts the command, and ends with the command, with
// its pipe's other end or with its parent's thread. The kernel ends the rest of the PID namespace. A command on a copy
// runs below a process of ours that its orphans fall to (attend_linux.go).
//
// Such a process and its namespaces take as long to start as all the rest of a short command. So one is started ahead,
// while a command runs and when the next one is on its way from the model, and waits to be told what to do
// (spare_linux.go). What it is told, mounted and shown is of the moment in which it is told; it is not used once the
// machine has other mounts than those of its start. A box has one at most, which ends after some seconds, with the box
// or with the server.
//
// Each command gets fresh mounts. Between two commands an upper layer holds only what stays: ignored outputs, and what
// is no text.
//
// # Followed programs
//
// A program that works for long by itself, such as another agent, has a mount of its own ([Box.Follow]). Its upper
// layer is only read while the program runs, and what is found there is compared with the text that is known of each
// path: the one of the start, or the last one that was told or brought. So each change is told once, and with the text
// that it was made on, which whoever merges it takes as the base.
//
// Texts reach its view through descriptors of the workspace folders that the sandbox opens in the mount and sends out
// before it gives up its rights (SCM_RIGHTS). They go through the overlay: writing to the upper layer below a mount, or
// to the disk below it, is not defined, and is noticed by no watcher. No right to look into the first process is
// needed, no path of the program's is taken for one of the machine's, and what is mounted in its view (protected and
// hidden files) is not crossed. A text gets its name by an exchange of two names (renameat2(2)), so that what had the
// name can be looked at once more, and put back.
//
// # Hosts
//
// A sandbox's way out is ours. Where `network.allow` names hosts, the sandbox makes sockets that listen on its own
// loopback and hands them to the server (Gate), where the proxy of that command answers until the command ends; nothing
// inside copies bytes. What is named on the loopback of the machine has a socket of its own at the same address, since
// programs ask no proxy for it.
package sandbox
