package bank;

import java.util.ArrayList;
import java.util.List;

final class Account {
    final String name;
    long cents;
    final List<Long> history = new ArrayList<>();

    Account(String name, long cents) {
        this.name = name;
        this.cents = cents;
        history.add(cents);
    }
}
