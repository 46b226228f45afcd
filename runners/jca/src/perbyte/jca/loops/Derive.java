package perbyte.jca.loops;

import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.PublicKey;
import javax.crypto.KeyAgreement;
import perbyte.jca.Engines;
import perbyte.sdk.Case;
import perbyte.sdk.Gauge;
import perbyte.sdk.Loop;

/** {@code KeyAgreement.init}, {@code doPhase} and {@code generateSecret}, with keys that were made beforehand. */
public final class Derive extends Loop {
    private KeyAgreement agreement;
    private PrivateKey own;
    private PublicKey peer;

    @Override
    public void open(Case work) throws Exception {
        this.work = work;
        agreement = Engines.agreement(work);
        own = Engines.seededPair(work).getPrivate();
        peer = Engines.peer(work);
    }

    @Override
    public void run(int n) {
        KeyAgreement agreement = this.agreement;
        PrivateKey own = this.own;
        PublicKey peer = this.peer;
        byte[] last = result;
        Gauge.before();
        try {
            for (int i = 0; i < n; i++) {
                agreement.init(own);
                agreement.doPhase(peer, true);
                last = agreement.generateSecret();
            }
        } catch (GeneralSecurityException | RuntimeException error) {
            failed(error);
        }
        Gauge.after();
        result = last;
        length = last.length;
    }
}
