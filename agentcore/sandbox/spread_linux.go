package sandbox

import (
	"os"

	"golang.org/x/sys/unix"
)

// topFolder is FS_TOPDIR_FL (linux/fs.h).
const topFolder = 0x20000

// spread tells ext4 that the folders in dir have nothing to do with each other, as `chattr +T` does, so that each gets
// its own part of the disk. In a part where files were deleted lately, as happens with every box and every build, ext4
// looks at each deleted one before it makes a new file, for minutes; and each command makes some. On file systems
// without this hint, spread changes nothing.
func spread(dir string) {
	f, err := os.Open(dir)
	if err != nil {
		return // making a folder there will report the error
	}
	defer f.Close()
	flags, err := unix.IoctlGetUint32(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err == nil && flags&topFolder == 0 {
		_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, int(flags|topFolder))
	}
}
