package hidden.old;

import shipping.Shipment;

public final class Estimates {
    /** The days until delivery; -1 for an unknown kind. */
    public static int days(Shipment s) {
        int days = s.isAbroad() ? 7 : 2;
        if (s.kind().equals("express")) {
            days = s.isAbroad() ? 3 : 1;
        } else if (s.kind().equals("freight")) {
            days = 5 + s.grams() / 1_000_000;
            if (s.isAbroad()) {
                days *= 3;
            }
        } else if (s.kind().equals("letter")) {
            if (s.insured()) {
                days++;
            }
        } else if (!s.kind().equals("parcel")) {
            return -1;
        }
        return days;
    }

    private Estimates() {
    }
}
