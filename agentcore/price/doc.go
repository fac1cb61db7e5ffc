// Package price knows what models cost: the table of the vendors' public prices, and how a price and the tokens of an
// answer make a cost. What is not in the table is unknown, and is never guessed.
//
// A public price (prices.toml, dated) holds at the vendor's own address alone, for a model's exact name with or without
// its version. What a gateway charges, or a new model with a longer name, is unknown until `[prices]` of the
// configuration says it.
package price
