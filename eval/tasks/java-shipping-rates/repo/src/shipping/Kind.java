package shipping;

import java.util.List;
import java.util.Optional;

/** Everything that distinguishes one kind of shipment from the others. */
public interface Kind {
    /** The name of the kind, such as {@code letter}: as in {@link Shipment#kind()}, in lines that are read, and in reports. */
    String code();

    /** Further words for the kind in lines that are read. */
    List<String> aliases();

    /** The price. Throws IllegalArgumentException if this kind cannot carry the shipment. */
    long cents(Shipment shipment);

    String label(Shipment shipment);

    /** The form for the customs; empty if none is needed. */
    Optional<String> customsForm(Shipment shipment);

    int days(Shipment shipment);

    /** The tracking number; empty if the shipment has none. */
    String trackingNumber(Shipment shipment, long serial);
}
