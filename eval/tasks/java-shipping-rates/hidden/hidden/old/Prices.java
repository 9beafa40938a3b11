package hidden.old;

import shipping.Shipment;

public final class Prices {
    public static long cents(Shipment s) {
        long cents;
        switch (s.kind()) {
            case "letter":
                if (s.grams() > 500) {
                    throw new IllegalArgumentException("letter too heavy: " + s.grams());
                }
                cents = s.grams() <= 20 ? 110 : s.grams() <= 100 ? 180 : 300;
                if (s.isAbroad()) {
                    cents *= 2;
                }
                return s.insured() ? cents + 250 : cents;
            case "express":
            case "parcel":
                if (s.grams() > 30_000) {
                    throw new IllegalArgumentException("parcel too heavy: " + s.grams());
                }
                cents = 700 + (s.grams() + 999) / 1000 * 150L;
                if (s.isAbroad()) {
                    cents += 1500;
                }
                if (s.kind().equals("express")) {
                    return cents * 2 + 500;
                }
                return s.insured() ? cents + cents / 20 : cents;
            case "freight":
                cents = Math.max(5000, s.grams() / 10);
                if (s.isAbroad()) {
                    cents = cents * 6 / 5;
                }
                return s.insured() ? cents + 1000 : cents;
            default:
                throw new IllegalArgumentException("no price for " + s.kind());
        }
    }

    private Prices() {
    }
}
