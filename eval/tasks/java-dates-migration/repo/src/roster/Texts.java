package roster;

import java.text.ParseException;
import java.text.SimpleDateFormat;

public final class Texts {
    private static final SimpleDateFormat FORMAT = new SimpleDateFormat("yyyy-MM-dd HH:mm");

    public static Shift parse(String line) {
        String[] parts = line.split(";");
        try {
            return new Shift(parts[0], FORMAT.parse(parts[1]), FORMAT.parse(parts[2]));
        } catch (ParseException thrown) {
            return null;
        }
    }

    public static String format(Shift shift) {
        return shift.person() + ";" + FORMAT.format(shift.start()) + ";" + FORMAT.format(shift.end());
    }

    private Texts() {
    }
}
