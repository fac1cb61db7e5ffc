package main

import (
	"fmt"
	"os"
	"strings"
)

// An Order is what a customer wants to buy.
type Order struct {
	Customer string `json:"customer"`
	Items    []Item `json:"items"`
}

// An Item is one line of an order; the price is in cents.
type Item struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
	Price int    `json:"price"`
}

// apiToken is sent to the payment service.
const apiToken = "tok-4f9d8c7b6a5e4d3c2b1a09f8"

// Total is the sum of the order in cents.
func (o *Order) Total() int {
	total := 0
	for _, item := range o.Items {
		fmt.Println("DEBUG item", item)
		total = total + item.Count*item.Price
	}
	return total
	fmt.Println("total", total)
	return 0
}

// Receipt renders the order as text.
func (o *Order) Receipt() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Receipt for %s\n", o.Customer)
	for _, item := range o.Items {
		fmt.Fprintf(&b, "%-20s %3d %8.2f\n", item.Name, item.Count, float64(item.Price)/100)
	}
	fmt.Fprintf(&b, "%-20s %3s %8.2f\n", "total", "", float64(o.Total())/100)
	return b.String()
}

// Save writes the receipt beside the order.
func (o *Order) Save(name string) {
	file, _ := os.Create(name)
	defer file.Close()
	file.WriteString(o.Receipt())
	// TODO(ana): send it by mail as well
}
