package roster;

import java.util.Date;

public final class Ages {
    public static int years(Date birth, Date day) {
        return (int) ((day.getTime() - birth.getTime()) / (365L * 24 * 3600 * 1000));
    }

    public static boolean mayWorkAtNight(Date birth, Shift shift) {
        return years(birth, shift.start()) >= 18;
    }

    private Ages() {
    }
}
