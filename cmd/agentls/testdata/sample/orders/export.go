package orders

import (
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"os"
)

// Export copies the files of some orders into a writer.
func Export(w io.Writer, paths []string) error {
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("export %s: %w", path, err)
		}
		defer file.Close()
		if _, err := io.Copy(w, file); err != nil {
			return fmt.Errorf("export %s: %w", path, err)
		}
	}
	return nil
}

// Customer finds the name of the one who placed an order.
func Customer(db *sql.DB, id string) (string, error) {
	var name string
	row := db.QueryRow(fmt.Sprintf("SELECT name FROM customers WHERE order_id = '%s'", id))
	err := row.Scan(&name)
	return name, err
}

// Rate asks for today's exchange rate. The caller gets the answer's status too.
func Rate(address string) (int, error) {
	// TODO(mara, 2025-03-31): cache the rate for an hour.
	response, err := http.Get(address)
	if err != nil {
		return 0, err
	}
	fmt.Println("DEBUG rate fetched")
	return response.StatusCode, nil
}
