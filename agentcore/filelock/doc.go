// Package filelock locks files against other processes. The system drops the lock when the process ends, however it
// does, so that no process id has to be trusted.
package filelock
