package hidden.old;

import shipping.Shipment;

import java.util.List;

public final class Report {
    private static final String[] KINDS = {"letter", "parcel", "express", "freight"};

    /** One line for each kind that occurs, {@code KIND NUMBER CENTS}; then "other" for unknown kinds, without a price. */
    public static String text(List<Shipment> shipments) {
        StringBuilder text = new StringBuilder();
        int known = 0;
        for (String kind : KINDS) {
            int count = 0;
            long cents = 0;
            for (Shipment s : shipments) {
                if (s.kind().equals(kind)) {
                    count++;
                    cents += Prices.cents(s);
                }
            }
            known += count;
            if (count > 0) {
                text.append(kind).append(' ').append(count).append(' ').append(cents).append('\n');
            }
        }
        if (known < shipments.size()) {
            text.append("other ").append(shipments.size() - known).append('\n');
        }
        return text.toString();
    }

    private Report() {
    }
}
