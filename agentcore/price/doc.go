// Package price knows what models cost: the table of the vendors' public prices, and the calculation of a cost from a
// price and the tokens of an answer. A price that is not in the table is unknown, and is never guessed.
//
// A public price (prices.toml, dated) holds only at the vendor's own address, for a model's exact name with or without
// its version. The price at a gateway, or of a new model with a longer name, is unknown until `[prices]` of the
// configuration says it.
package price
