package workspace

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/agentls/agentls/agentcore/permission"
)

// ReadBytes returns the bytes of a file that [Layer.Read] refuses because it is no text or too large for one, such as
// an image. It reads the file on disk, since documents and layers hold only text. The error is a *FileError: TooLarge
// for more than limit bytes, otherwise the error that Read has, but never Binary.
func (l *Layer) ReadBytes(path string, limit int64) ([]byte, error) {
	path = cleanPath(path)
	c, err := l.content(path)
	var problem *FileError
	switch {
	case err == nil:
		return nil, &FileError{Kind: NotRegular, Path: path, Detail: "is a text file", Hint: "read it as a text"}
	case !errors.As(err, &problem) || problem.Kind != Binary && problem.Kind != TooLarge:
		return nil, err
	case (c.secret || permission.Secret(filepath.ToSlash(path))) && !l.allows(path):
		return nil, l.view.secretError(path)
	}
	v := l.view
	r, rel := v.locate(path)
	if r == nil {
		return nil, v.outside(path)
	}
	dir, err := r.open()
	if err != nil {
		return nil, ioError(path, "the workspace folder cannot be opened", err)
	}
	info, err := dir.Stat(rel)
	if err == nil {
		err = irregular(path, info.Mode())
	}
	if err != nil {
		return nil, ioError(path, "cannot be read", err)
	}
	file, err := dir.OpenFile(rel, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, ioError(path, "cannot be read", err)
	}
	defer file.Close()
	// The file may have been replaced between the look and the opening.
	if info, err = file.Stat(); err == nil {
		err = irregular(path, info.Mode())
	}
	if err != nil {
		return nil, ioError(path, "cannot be read", err)
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, ioError(path, "cannot be read", err)
	}
	if int64(len(data)) > limit {
		return nil, v.tooLarge(path, info.Size())
	}
	return data, nil
}
