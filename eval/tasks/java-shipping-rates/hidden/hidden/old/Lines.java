package hidden.old;

import shipping.Shipment;

import java.util.Locale;

public final class Lines {
    /** Reads {@code KIND GRAMS COUNTRY [insured]}. */
    public static Shipment parse(String line) {
        String[] words = line.trim().split("\\s+");
        if (words.length < 3 || words.length > 4 || words.length == 4 && !words[3].equals("insured")) {
            throw new IllegalArgumentException("wrong line: " + line);
        }
        String kind;
        switch (words[0].toLowerCase(Locale.ROOT)) {
            case "letter": case "l": kind = "letter"; break;
            case "parcel": case "p": case "packet": kind = "parcel"; break;
            case "express": case "x": kind = "express"; break;
            case "freight": case "f": case "pallet": kind = "freight"; break;
            default: throw new IllegalArgumentException("unknown kind: " + words[0]);
        }
        int grams;
        try {
            grams = Integer.parseInt(words[1]);
        } catch (NumberFormatException thrown) {
            throw new IllegalArgumentException("wrong weight: " + words[1]);
        }
        if (grams <= 0) {
            throw new IllegalArgumentException("wrong weight: " + words[1]);
        }
        return new Shipment(kind, grams, words[2].toUpperCase(Locale.ROOT), words.length == 4);
    }

    private Lines() {
    }
}
