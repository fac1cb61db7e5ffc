// Command shop prints the receipt of an order that lies in a file.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: shop ORDER.json")
	}
	order, err := load(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(order.Receipt())
}

// load reads an order from a JSON file.
func load(name string) (*Order, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read the order: %w", err)
	}
	var order Order
	json.Unmarshal(text, &order)
	return &order, nil
}
