package workspace

import (
	"bytes"
	"container/list"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/agentls/agentls/agentcore/beneath"
	"github.com/agentls/agentls/agentcore/permission"
)

// root is a workspace folder. It does not change, except for its handle.
type root struct {
	Root
	name string
	*handle
}

// handle is a folder that is opened when first needed, so that a folder that does not exist yet is no error. A root
// that stays while others come and go keeps its handle, since others may be reading by it. Its methods may be called
// from any goroutine.
type handle struct {
	path string

	mu     sync.Mutex
	dir    *os.Root
	below  *beneath.Root // opens below dir; nil before it is needed
	closed bool
}

func (h *handle) open() (*os.Root, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.opened()
}

// folders returns the folder, opened, for callers that read many folders in it.
func (h *handle) folders() (*beneath.Root, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	dir, err := h.opened()
	if err == nil && h.below == nil {
		h.below, err = beneath.New(dir)
	}
	return h.below, err
}

// opened opens the folder unless it is open. The lock is held.
func (h *handle) opened() (*os.Root, error) {
	if h.closed {
		return nil, os.ErrClosed
	}
	if h.dir == nil {
		dir, err := os.OpenRoot(h.path)
		if err != nil {
			return nil, err
		}
		h.dir = dir
	}
	return h.dir, nil
}

func (h *handle) close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	if h.dir == nil {
		return nil
	}
	dir, below := h.dir, h.below
	h.dir, h.below = nil, nil
	if below == nil {
		return dir.Close()
	}
	return errors.Join(below.Close(), dir.Close())
}

// real returns the path below the root, with slashes, that rel leads to once symbolic links are followed. A part that
// does not exist yet keeps its name. It reports false where rel leads out of the root.
func (r *root) real(rel string) (string, bool) {
	if below, err := r.folders(); err == nil && below.Plain(rel) {
		return filepath.ToSlash(rel), true
	}
	top, err := filepath.EvalSymlinks(r.Path)
	if err != nil {
		return filepath.ToSlash(rel), true
	}
	rest := ""
	for at := filepath.Join(r.Path, rel); ; at = filepath.Dir(at) {
		target, err := filepath.EvalSymlinks(at)
		if err == nil {
			inside, err := filepath.Rel(top, filepath.Join(target, rest))
			if err != nil || !filepath.IsLocal(inside) {
				return "", false
			}
			return filepath.ToSlash(inside), true
		}
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return "", false
		}
		if at == r.Path || at == filepath.Dir(at) {
			return filepath.ToSlash(rel), true
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// diskFile is what a regular file holds, or what is wrong with it.
type diskFile struct {
	text   *text
	format Format
	// secret is set where the file looks like one that holds keys, by its own name or by that of the file that a link
	// leads to.
	secret bool
	// failure is Binary or TooLarge. It holds as long as the file does not change.
	failure *FileError
}

// readDisk returns the file at an absolute path; its text is nil where there is no file. It opens only regular files,
// and never waits for a pipe or a device.
func (f *folders) readDisk(path string) (diskFile, error) {
	r, rel := f.locate(path)
	if r == nil {
		return diskFile{}, f.outside(path)
	}
	below, err := r.folders()
	if errors.Is(err, fs.ErrNotExist) {
		return diskFile{}, nil
	}
	if err != nil {
		return diskFile{}, ioError(path, "the workspace folder cannot be opened", err)
	}
	info, err := below.Stat(rel)
	if err != nil {
		return diskFile{}, f.statError(path, err)
	}
	if problem := irregular(path, info.Mode); problem != nil {
		return diskFile{}, problem
	}
	if known, ok := f.cache.get(path, info); ok {
		return known.result()
	}
	buffer := readBuffers.Get().(*[]byte)
	defer readBuffers.Put(buffer)
	// The file may have been replaced between the look and the opening.
	data, info, err := below.ReadFile(rel, buffer, f.options.MaxFileSize)
	read := time.Now()
	switch {
	case errors.Is(err, beneath.ErrNotRegular):
		return diskFile{}, irregular(path, info.Mode)
	case err != nil && !errors.Is(err, beneath.ErrTooLong):
		return diskFile{}, f.statError(path, err)
	}
	found := diskFile{format: Format{Mode: uint32(info.Mode.Perm())}}
	real, inside := r.real(rel)
	found.secret = inside && permission.Secret(real)
	if err != nil {
		found.failure = f.tooLarge(path, info.Size)
	} else {
		f.fill(&found, path, data)
	}
	f.cache.put(path, info, read, found)
	return found.result()
}

// readBuffers hold the bytes of files until they are made texts.
var readBuffers = sync.Pool{New: func() any { return new([]byte) }}

// fill sets the text of a file from its bytes.
func (f *folders) fill(found *diskFile, path string, data []byte) {
	if int64(len(data)) > f.options.MaxFileSize {
		found.failure = f.tooLarge(path, int64(len(data)))
		return
	}
	content, format, ok := Decode(data)
	if !ok {
		found.failure = &FileError{
			Kind: Binary, Path: path, Detail: "is not a text file",
			Hint: "agents read UTF-8, and UTF-16 with a byte order mark",
		}
		return
	}
	format.Mode = found.format.Mode
	found.text, found.format = newText(content), format
}

func (f diskFile) result() (diskFile, error) {
	if f.failure != nil {
		return f, f.failure
	}
	return f, nil
}

func irregular(path string, mode fs.FileMode) error {
	switch {
	case mode.IsDir():
		return &FileError{Kind: Directory, Path: path, Detail: "is a folder", Hint: "list it instead"}
	case !mode.IsRegular():
		return &FileError{
			Kind: NotRegular, Path: path,
			Detail: fmt.Sprintf("is not a regular file (%s)", mode.Type()), Hint: "choose a regular file",
		}
	}
	return nil
}

func (f *folders) tooLarge(path string, size int64) *FileError {
	return &FileError{
		Kind: TooLarge, Path: path,
		Detail: fmt.Sprintf("has %d bytes, the limit is %d", size, f.options.MaxFileSize),
		Hint:   "work on a smaller file",
	}
}

func ioError(path, detail string, err error) error {
	return &FileError{
		Kind: IO, Path: path, Detail: fmt.Sprintf("%s: %v", detail, err),
		Hint: "check the file and its permissions", Cause: err,
	}
}

// statError turns an error of os.Root into one of ours. A file that does not exist is no error.
func (f *folders) statError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil
	case errors.Is(err, os.ErrClosed):
		return f.outside(path)
	}
	// os.Root exports no error for a path that leaves it.
	if pathError := (*fs.PathError)(nil); errors.As(err, &pathError) {
		var errno syscall.Errno
		if !errors.As(pathError.Err, &errno) && strings.Contains(pathError.Err.Error(), "escapes") {
			return &FileError{
				Kind: Outside, Path: path, Detail: "leads out of the workspace through a symbolic link",
				Hint: "only files inside the workspace folders can be read", Cause: err,
			}
		}
	}
	return ioError(path, "cannot be read", err)
}

// Decode turns the bytes of a file into text, UTF-8 without a byte order mark; it reports false for what is not text.
func Decode(data []byte) (string, Format, bool) {
	format := Format{Encoding: "utf-8"}
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		format.BOM = true
		data = data[3:]
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		format, order = Format{Encoding: "utf-16le", BOM: true}, binary.LittleEndian
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		format, order = Format{Encoding: "utf-16be", BOM: true}, binary.BigEndian
	}
	if order == nil {
		if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
			return "", Format{}, false
		}
		return string(data), format, true
	}
	data = data[2:]
	if len(data)%2 != 0 {
		return "", Format{}, false
	}
	text := make([]byte, 0, len(data))
	for ; len(data) > 0; data = data[2:] {
		r := rune(order.Uint16(data))
		if utf16.IsSurrogate(r) {
			if len(data) < 4 {
				return "", Format{}, false
			}
			r = utf16.DecodeRune(r, rune(order.Uint16(data[2:])))
			if r == utf8.RuneError {
				return "", Format{}, false
			}
			data = data[2:]
		}
		if r == 0 {
			return "", Format{}, false
		}
		text = utf8.AppendRune(text, r)
	}
	return string(text), format, true
}

// diskCache keeps texts that were read, up to a number of bytes. It has its own lock, which is never
// held over a read.
type diskCache struct {
	mu    sync.Mutex
	limit int64
	size  int64
	files map[string]*list.Element
	order list.List
}

type cached struct {
	path string
	info beneath.Info
	file diskFile
	size int64
}

func (c *diskCache) get(path string, info beneath.Info) (diskFile, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	element := c.files[path]
	if element == nil {
		return diskFile{}, false
	}
	known := element.Value.(*cached)
	if known.info.Size != info.Size || !known.info.Modified.Equal(info.Modified) ||
		known.info.Mode != info.Mode || !known.info.Same(info) {
		c.remove(element)
		return diskFile{}, false
	}
	c.order.MoveToFront(element)
	return known.file, true
}

func (c *diskCache) put(path string, info beneath.Info, read time.Time, file diskFile) {
	// A file that was written just before the read may change again within the same tick of the file system's clock
	// without changing its size. git calls such entries racy and does not trust them either.
	if read.Sub(info.Modified) < 2*time.Second {
		return
	}
	entry := &cached{path, info, file, 256 + int64(len(file.text.string()))}
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.files[path]; old != nil {
		c.remove(old)
	}
	if c.files == nil {
		c.files = make(map[string]*list.Element)
	}
	c.files[path] = c.order.PushFront(entry)
	c.size += entry.size
	for c.size > c.limit {
		c.remove(c.order.Back())
	}
}

func (c *diskCache) drop(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if element := c.files[path]; element != nil {
		c.remove(element)
	}
}

func (c *diskCache) remove(element *list.Element) {
	entry := c.order.Remove(element).(*cached)
	delete(c.files, entry.path)
	c.size -= entry.size
}

// names lists the names in a folder of the disk; none where it cannot be read.
func (r *root) names(rel string) []string {
	dir, err := r.open()
	if err != nil {
		return nil
	}
	folder, err := dir.OpenFile(rel, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil
	}
	defer folder.Close()
	names, err := folder.Readdirnames(-1)
	if err != nil {
		return nil
	}
	return names
}
