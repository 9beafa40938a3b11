package shipping;

import java.util.Locale;
import java.util.Map;

public final class Tracking {
    private static final Map<String, String> PREFIXES = Map.of("letter", "RR", "parcel", "PA", "express", "EX");

    public static String number(Shipment s, long serial) {
        if (s.kind().equals("freight")) {
            return "F-" + serial;
        }
        if (s.kind().equals("letter") && !s.insured()) {
            return "";
        }
        String prefix = PREFIXES.get(s.kind());
        if (prefix == null) {
            throw new IllegalStateException("unknown kind: " + s.kind());
        }
        String digits = String.format(Locale.ROOT, "%08d", serial);
        int sum = 0;
        for (int i = 0; i < digits.length(); i++) {
            sum += (digits.charAt(i) - '0') * (i % 2 == 0 ? 3 : 1);
        }
        return prefix + digits + (10 - sum % 10) % 10 + "CH";
    }

    private Tracking() {
    }
}
