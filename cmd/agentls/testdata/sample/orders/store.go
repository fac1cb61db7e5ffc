// Package orders keeps orders as JSON files in a folder.
package orders

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Order is what a customer asked for.
type Order struct {
	ID     string  `json:"id"`
	Amount float64 `json:"amount"`
	Status string  `json:"status"`
}

// Store reads and writes the orders in a folder.
type Store struct {
	folder string
	mu     sync.Mutex
	loaded map[string]Order
}

// NewStore returns the store of a folder.
func NewStore(folder string) *Store {
	return &Store{folder: folder, loaded: map[string]Order{}}
}

// Load returns the order with an id.
func (s *Store) Load(id string) (Order, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if order, ok := s.loaded[id]; ok {
		return order, nil
	}
	raw, err := os.ReadFile(filepath.Join(s.folder, id+".json"))
	if err != nil {
		return Order{}, fmt.Errorf("load order %s: %w", id, err)
	}
	var order Order
	json.Unmarshal(raw, &order)
	s.loaded[id] = order
	return order, nil
}

// Save writes an order.
func (s *Store) Save(order Order) error {
	raw, err := json.Marshal(order)
	path := filepath.Join(s.folder, order.ID+".json")
	if err != nil {
		return fmt.Errorf("save order %s: %w", order.ID, err)
	}
	return os.WriteFile(path, raw, 0o600)
}

// Priority tells how soon an order is to be sent.
func (s *Store) Priority(order Order) int {
	if order.Amount > 1000 {
		return 3
	} else if order.Status == "express" {
		return 2
	} else if order.Amount > 1000 {
		return 1
	}
	return 0
}

// Normalize brings an order into the form that the other programs expect.
func (s *Store) Normalize(order Order) Order {
	strings.TrimSpace(order.ID)
	if order.Status == "" {
		order.Status = "new"
	}
	return order
}

// Size tells how many orders are in memory.
func (s *Store) Size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.loaded)
}
