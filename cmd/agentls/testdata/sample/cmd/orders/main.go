// Command orders serves the orders in a folder over HTTP.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"net/http"

	"example.org/sample/orders"
)

func main() {
	data := flag.String("data", "data", "folder of the orders")
	addr := flag.String("addr", ":8080", "address to listen on")
	flag.Parse()

	store := orders.NewStore(*data)
	http.HandleFunc("GET /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		order, err := store.Load(r.PathValue("id"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(order); err != nil {
			log.Printf("send order %s: %v", order.ID, err)
		}
	})
	log.Printf("listening on %s", *addr)
	http.ListenAndServe(*addr, nil)
}
