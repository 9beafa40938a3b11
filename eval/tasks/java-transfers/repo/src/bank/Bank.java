package bank;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

public final class Bank {
    private final Map<String, Account> accounts = new HashMap<>();

    public void open(String name, long cents) {
        accounts.put(name, new Account(name, cents));
    }

    public long balance(String name) {
        return accounts.get(name).cents;
    }

    public List<Long> history(String name) {
        return accounts.get(name).history;
    }

    public boolean transfer(String from, String to, long cents) {
        Account source = accounts.get(from);
        Account target = accounts.get(to);
        synchronized (source) {
            synchronized (target) {
                if (source.cents < cents) {
                    return false;
                }
                source.cents -= cents;
                source.history.add(-cents);
                target.cents += cents;
                target.history.add(cents);
                return true;
            }
        }
    }

    public boolean transferAll(List<Transfer> transfers) {
        for (Transfer each : transfers) {
            if (!transfer(each.from(), each.to(), each.cents())) {
                return false;
            }
        }
        return true;
    }

    public long total() {
        long sum = 0;
        for (Account account : accounts.values()) {
            sum += account.cents;
        }
        return sum;
    }
}
