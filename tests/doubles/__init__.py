"""Outside services as programs of the standard library that speak the genuine protocols and import nothing of the product."""
