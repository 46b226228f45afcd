package perbyte.sdk;

import java.util.List;

/** What a runner in Java has to provide: who it speaks for, and its rows. */
public abstract class Library {
    /** The runner's name, e.g. {@code jca-bc}. */
    public abstract String runner();

    public abstract String name();

    /** Asked of the library at run time. */
    public abstract String version();

    /** SPDX id. */
    public abstract String license();

    /** Path of the file that holds the library's code. */
    public abstract String object();

    /** What the library or the virtual machine says it uses of the CPU; empty if nothing. */
    public abstract String cpuFeatures();

    /** The rows of all algorithms that were found to work here. */
    public abstract List<Row> rows();

    /** The rows of one algorithm; empty if it does not work here. Asked without the others, it is found out alone. */
    public abstract List<Row> rows(String algorithm);

    /** The row, offered or not, or null. */
    final Row find(String algorithm, String operation, String contract) {
        for (Row row : rows(algorithm)) {
            if (row.is(algorithm, operation, contract)) {
                return row;
            }
        }
        return null;
    }

    /** The row; refused as unsupported when there is none that is offered. */
    final Row row(String algorithm, String operation, String contract) throws Refusal {
        Row found = find(algorithm, operation, contract);
        if (found == null || !found.offered) {
            throw Refusal.unsupported(runner() + " does not have " + algorithm + " " + operation + " under " + contract);
        }
        return found;
    }
}
