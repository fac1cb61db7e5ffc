//go:build !linux || !(amd64 || arm64)

package sandbox

// sweepCgroup does nothing: there are no cgroups here.
func sweepCgroup(string) error { return nil }
