package roster;

import java.util.Calendar;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public final class Weeks {
    public static String week(Date day) {
        Calendar calendar = Calendar.getInstance();
        calendar.setTime(day);
        return calendar.get(Calendar.YEAR) + "-W" + calendar.get(Calendar.WEEK_OF_YEAR);
    }

    public static Map<String, Long> hours(List<Shift> shifts) {
        Map<String, Long> minutes = new HashMap<>();
        for (Shift shift : shifts) {
            minutes.merge(week(shift.start()), shift.length(), Long::sum);
        }
        return minutes;
    }

    private Weeks() {
    }
}
