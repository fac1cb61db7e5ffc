package sandbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// topFolder is FS_TOPDIR_FL (linux/fs.h).
const topFolder = 0x20000

// spread tells ext4 that the folders in dir have nothing to do with each other, as `chattr +T` does, so that each gets
// a part of the disk of its own. In one where files have been deleted lately, as those of every box and every build
// are, it looks at each of them before it makes another one, for minutes after; and each command makes some. Where the
// file system knows no such hint nothing is lost.
func spread(dir string) {
	f, err := os.Open(dir)
	if err != nil {
		return // whoever makes a folder there will tell
	}
	defer f.Close()
	flags, err := unix.IoctlGetUint32(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err == nil && flags&topFolder == 0 {
		_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, int(flags|topFolder))
	}
}
